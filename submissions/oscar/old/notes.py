<<<<<<< HEAD
lr = 6e-3
=======
lr = 6e-4
>>>>>>> perceiver
