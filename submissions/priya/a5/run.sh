python src/run.py pretrain perceiver wiki.txt --writing_params_path perceiver.pretrain.params
python src/run.py finetune perceiver wiki.txt --reading_params_path perceiver.pretrain.params
