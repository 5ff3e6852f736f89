// Where the system does not allow machine code, everything works and why_not_compiled() tells why.
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>

#include "limb/batch/compiled.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

/// 0 if compiled inverse dynamics have the values of the template and the reason starts as
/// expected.
int check_fallback(const std::string& reason) {
  const testing::Sample s = testing::sample_of("arm", load_model("builtin:arm7"), 1);
  const Compiled fast = compile(s.model, {DynamicsFunction::rnea});
  if (fast.why_not_compiled().rfind(reason, 0) != 0) return 2;
  if (fast.program(DynamicsFunction::rnea).is_compiled()) return 3;
  Workspace<double> work(s.model);
  VectorX<double> x(7), y(7);
  fast.rnea(s.q, s.v, s.a, x);
  rnea(s.model, work, s.q, s.v, s.a, y);
  if (x != y) return 4;
  RowMatrix<double> q = s.q.transpose().replicate(20, 1), v = s.v.transpose().replicate(20, 1),
                    a = s.a.transpose().replicate(20, 1), tau(20, 7);
  fast.rnea(q, v, a, tau);
  return tau.row(19) == y.transpose() ? 0 : 5;
}

/// The exit status of a child process that runs this. A process tests for machine code only once.
template <typename Call>
int in_child(const Call& call) {
  const pid_t child = fork();
  if (child == 0) _exit(call());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/// Makes mprotect and mmap fail if PROT_EXEC is requested.
bool forbid_execution() {
  const auto argument = [](int k) {
    return static_cast<unsigned>(offsetof(struct seccomp_data, args) + 8 * std::size_t(k));
  };
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mprotect, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mmap, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument(2)),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {std::size(filter), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(NoJit, ByEnvironmentVariable) {
  EXPECT_EQ(in_child([] {
              setenv("LIMB_NO_JIT", "1", 1);
              return check_fallback("LIMB_NO_JIT is set");
            }),
            0);
}

TEST(NoJit, WhereTheSystemRefusesExecutableMemory) {
  const int status = in_child([] {
    if (!forbid_execution()) return 77;
    return check_fallback("the system refuses mprotect(PROT_EXEC)");
  });
  if (status == 77) GTEST_SKIP() << "this system has no seccomp filters";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace limb
