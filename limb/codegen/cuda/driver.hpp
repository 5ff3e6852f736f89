#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace limb::codegen {

/// NVIDIA's driver, opened when it is first used, so that programs run on machines without it. Only
/// what limb calls; names and numbers are those of the driver's interface.
class CudaDriver {
 public:
  using Context = void*;
  using Module = void*;
  using Function = void*;
  using Stream = void*;
  using LinkState = void*;

  /// The driver of this process, or null: then `why`, if given, has the reason. The library is
  /// libcuda.so.1, or the file that the environment variable LIMB_CUDA_DRIVER names at the first
  /// call.
  static const CudaDriver* get(std::string* why = nullptr);
  /// @throws Error with the reason if there is no driver or no device.
  static const CudaDriver& require(const std::string& call);

  /// @throws Error "call: what: CUDA_ERROR_...: text" unless the result is 0.
  void check(int result, const std::string& call, const std::string& what) const;

  int (*cuGetErrorName)(int, const char**) = nullptr;
  int (*cuGetErrorString)(int, const char**) = nullptr;
  int (*cuInit)(unsigned) = nullptr;
  int (*cuDriverGetVersion)(int*) = nullptr;
  int (*cuDeviceGetCount)(int*) = nullptr;
  int (*cuDeviceGetName)(char*, int, int) = nullptr;
  int (*cuDeviceGetAttribute)(int*, int, int) = nullptr;
  int (*cuDevicePrimaryCtxRetain)(Context*, int) = nullptr;
  int (*cuCtxGetCurrent)(Context*) = nullptr;
  int (*cuCtxSetCurrent)(Context) = nullptr;
  int (*cuCtxGetDevice)(int*) = nullptr;
  int (*cuLinkCreate)(unsigned, int*, void**, LinkState*) = nullptr;
  int (*cuLinkAddData)(LinkState, int, void*, std::size_t, const char*, unsigned, int*,
                       void**) = nullptr;
  int (*cuLinkComplete)(LinkState, void**, std::size_t*) = nullptr;
  int (*cuLinkDestroy)(LinkState) = nullptr;
  int (*cuModuleLoadData)(Module*, const void*) = nullptr;
  int (*cuModuleUnload)(Module) = nullptr;
  int (*cuModuleGetFunction)(Function*, Module, const char*) = nullptr;
  int (*cuFuncGetAttribute)(int*, int, Function) = nullptr;
  int (*cuFuncSetAttribute)(Function, int, int) = nullptr;
  int (*cuLaunchKernel)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        unsigned, Stream, void**, void**) = nullptr;
  int (*cuMemAlloc)(std::uint64_t*, std::size_t) = nullptr;
  int (*cuMemFree)(std::uint64_t) = nullptr;
  int (*cuMemcpyHtoD)(std::uint64_t, const void*, std::size_t) = nullptr;
  int (*cuMemcpyDtoH)(void*, std::uint64_t, std::size_t) = nullptr;
  int (*cuMemcpyDtoD)(std::uint64_t, std::uint64_t, std::size_t) = nullptr;
  int (*cuStreamSynchronize)(Stream) = nullptr;

 private:
  CudaDriver() = default;
  /// @returns why it cannot be used; empty if it can.
  std::string open();
};

}  // namespace limb::codegen
