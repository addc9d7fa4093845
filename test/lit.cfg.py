# How the lit tests of xlc run: the tools of the build tree and LLVM's are on the PATH,
# %S is the test's folder, %t a temporary name, %models the models in the project, %references those that come with PyTorch's numbers, %examples its examples,
# %simulated the libraries of the simulated GPU, %onnx what turns a model written as protobuf text into a file.
import glob
import os
import shutil
import subprocess
import lit.formats

config.name = "xlc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".yaml"]
config.excludes = ["Inputs", "regressions", "lit.cfg.py"]
config.test_source_root = os.path.join(config.xlc_source_dir, "test")
config.test_exec_root = os.path.join(config.xlc_build_dir, "test")
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.xlc_build_dir, "bin"), config.llvm_tools_dir, os.environ["PATH"]])
config.substitutions.append(("%onnx", "protoc --encode=onnx.ModelProto --proto_path=" +
                             os.path.join(config.xlc_source_dir, "lib", "Onnx") + " onnx.proto"))
config.substitutions.append(("%xlc", os.path.join(config.xlc_build_dir, "bin", "xlc")))
config.substitutions.append(("%examples", os.path.join(config.xlc_source_dir, "examples")))
config.substitutions.append(("%build-tree", config.xlc_build_dir))
config.substitutions.append(("%simulated", os.path.join(config.xlc_build_dir, "lib", "simulated")))
config.substitutions.append(("%references", os.path.join(config.xlc_source_dir, "test", "Inputs", "references")))
config.substitutions.append(("%models", os.path.join(config.xlc_source_dir, "test", "Inputs", "models")))

# Of long lists a tree with sanitizers takes one in so many (run_all.py).
config.substitutions.append(("%every", os.environ.get("XLC_TEST_EVERY", "1")))

# The big graphs are optional: XLC_MODELS names a folder with gpt2/gpt2.onnx and the like.
models = os.environ.get("XLC_MODELS", os.path.join(config.xlc_source_dir, "..", "shared", "models"))
if os.path.isdir(os.path.join(models, "gpt2")):
    config.available_features.add("full-size-models")
    config.substitutions.append(("%full-size-models", models))
# NVIDIA's assembler is optional: it says what registers the PTX of a kernel takes. scripts/setup --cuda brings it.
config.environment["PATH"] = os.pathsep.join([config.environment["PATH"], *glob.glob(
    os.path.join(config.xlc_source_dir, "build-cuda", "lib", "python3*", "site-packages", "nvidia", "cuda_nvcc", "bin"))])
if shutil.which("ptxas", path=config.environment["PATH"]):
    config.available_features.add("ptxas")
for package in ("numpy", "xxhash", "torch", "onnxscript", "nbclient"):
    found = f"import importlib.util, sys; sys.exit(importlib.util.find_spec('{package}') is None)"
    if subprocess.run(["python3", "-c", found], capture_output=True, check=False).returncode == 0:
        config.available_features.add(package)
if shutil.which("chromium"):
    config.available_features.add("chromium")
if lit_config.params.get("all"):
    config.available_features.add("long")
