#include "limb/codegen/cuda/driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "limb/base/error.hpp"

namespace limb::codegen {

std::string CudaDriver::open() {
  const char* named = std::getenv("LIMB_CUDA_DRIVER");
  const char* file = named != nullptr && *named != '\0' ? named : "libcuda.so.1";
  void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return fmt::format("no NVIDIA driver ({})", dlerror());
  std::string missing;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
    if (function == nullptr) missing += std::string(missing.empty() ? "" : ", ") + name;
  };
  find(cuGetErrorName, "cuGetErrorName");
  find(cuGetErrorString, "cuGetErrorString");
  find(cuInit, "cuInit");
  find(cuDriverGetVersion, "cuDriverGetVersion");
  find(cuDeviceGetCount, "cuDeviceGetCount");
  find(cuDeviceGetName, "cuDeviceGetName");
  find(cuDeviceGetAttribute, "cuDeviceGetAttribute");
  find(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
  find(cuCtxGetCurrent, "cuCtxGetCurrent");
  find(cuCtxSetCurrent, "cuCtxSetCurrent");
  find(cuCtxGetDevice, "cuCtxGetDevice");
  find(cuLinkCreate, "cuLinkCreate_v2");
  find(cuLinkAddData, "cuLinkAddData_v2");
  find(cuLinkComplete, "cuLinkComplete");
  find(cuLinkDestroy, "cuLinkDestroy");
  find(cuModuleLoadData, "cuModuleLoadData");
  find(cuModuleUnload, "cuModuleUnload");
  find(cuModuleGetFunction, "cuModuleGetFunction");
  find(cuFuncGetAttribute, "cuFuncGetAttribute");
  find(cuFuncSetAttribute, "cuFuncSetAttribute");
  find(cuLaunchKernel, "cuLaunchKernel");
  find(cuMemAlloc, "cuMemAlloc_v2");
  find(cuMemFree, "cuMemFree_v2");
  find(cuMemcpyHtoD, "cuMemcpyHtoD_v2");
  find(cuMemcpyDtoH, "cuMemcpyDtoH_v2");
  find(cuMemcpyDtoD, "cuMemcpyDtoD_v2");
  find(cuStreamSynchronize, "cuStreamSynchronize");
  if (!missing.empty()) {
    return fmt::format("the NVIDIA driver {} is too old: it has no {}", file, missing);
  }
  if (const int result = cuInit(0); result != 0) {
    const char* text = nullptr;
    cuGetErrorString(result, &text);
    return fmt::format("the NVIDIA driver does not start: {}", text != nullptr ? text : "unknown");
  }
  int devices = 0;
  if (cuDeviceGetCount(&devices) != 0 || devices == 0) return "no CUDA device";
  return "";
}

const CudaDriver* CudaDriver::get(std::string* why) {
  static CudaDriver driver;
  static const std::string obstacle = driver.open();
  if (why != nullptr) *why = obstacle;
  return obstacle.empty() ? &driver : nullptr;
}

const CudaDriver& CudaDriver::require(const std::string& call) {
  std::string why;
  const CudaDriver* driver = get(&why);
  if (driver == nullptr) throw Error(call + ": " + why, Error::Kind::computation_failed);
  return *driver;
}

void CudaDriver::check(int result, const std::string& call, const std::string& what) const {
  if (result == 0) return;
  const char *name = nullptr, *text = nullptr;
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &text);
  throw Error(fmt::format("{}: {}: {} ({})", call, what, text != nullptr ? text : "unknown error",
                          name != nullptr ? name : std::to_string(result)),
              Error::Kind::computation_failed);
}

}  // namespace limb::codegen
