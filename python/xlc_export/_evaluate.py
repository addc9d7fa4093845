"""What the file's forward gives on the rows of a reference, by another implementation than xlc's where there is one.

Dropouts are off, as in the run that it is compared with.
"""

import importlib.util

import torch


def evaluate(path, rows):
    """(name of the evaluator, the outputs by name); (None, None) where there is none, outputs None where it fails."""
    path = _without_dropout(path)
    if path is None:
        return None, None
    for package, run in (("onnxruntime", _by_onnxruntime), ("onnx", _by_onnx)):
        if importlib.util.find_spec(package):
            return run(path, {name: _array(x) for name, x in rows.items()})
    return None, None


def _without_dropout(path):
    """The path; the bytes of a file without dropouts, where it has some; None where its values lie elsewhere."""
    import onnx

    model = onnx.load(path, load_external_data=False)
    dropouts = [node for node in model.graph.node if node.op_type == "Dropout" and len(node.input) > 2]
    if not dropouts:
        return path
    if any(tensor.data_location == onnx.TensorProto.EXTERNAL for tensor in model.graph.initializer):
        return None
    for node in dropouts:
        del node.input[2:]
    return model.SerializeToString()


def _array(x):
    return x.detach().cpu().numpy() if x.dtype != torch.bfloat16 else x.detach().cpu().float().numpy()


def _by_onnxruntime(path, rows):
    import onnxruntime

    name = f"onnxruntime {onnxruntime.__version__}"
    options = onnxruntime.SessionOptions()  # it would fuse batch norms in training with convolutions, as in inference
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        names = [x.name for x in session.get_outputs()]
        return name, dict(zip(names, session.run(None, rows)))
    except Exception:  # it has no common ancestor for what it throws: the file says what it says elsewhere
        return name, None


def _by_onnx(path, rows):
    import onnx.reference

    try:
        evaluator = onnx.reference.ReferenceEvaluator(onnx.load_from_string(path) if isinstance(path, bytes) else path)
        return "onnx reference", dict(zip(evaluator.output_names, evaluator.run(None, rows)))
    except Exception:  # operators that it does not know, and whatever numpy throws
        return "onnx reference", None
