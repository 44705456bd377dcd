"""A class graded on many machines: Dask gives work to its workers, each of which grades as a job does here, and this
process writes. Nothing of Dask is loaded unless `--dask` asks for it.
"""
