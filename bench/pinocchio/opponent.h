/* Pinocchio as the library to compare with, behind a C interface, because it is built with other
   compilers and flags and another alignment of Eigen's types than limb. One shared library per
   compiler exports opponent_entry_point(). */
#ifndef LIMB_BENCH_PINOCCHIO_OPPONENT_H
#define LIMB_BENCH_PINOCCHIO_OPPONENT_H

#ifdef __cplusplus
extern "C" {
#endif

enum OpponentJoint { OPPONENT_REVOLUTE, OPPONENT_PRISMATIC, OPPONENT_FREE };

struct OpponentBody {
  int parent; /* 0 is the world; bodies count from 1 */
  enum OpponentJoint joint;
  double axis[3];
  double R[9], p[3]; /* joint frame in the parent frame, R by rows */
  double mass, center[3], inertia[9];
};

/* A point contact of a body with the ground; with `surface` a surface contact of the body. */
struct OpponentContact {
  int body;
  double p[3];
  int surface;
};

struct OpponentTable {
  const char* build; /* compiler and flags */
  void* (*make)(const struct OpponentBody* bodies, int count, const double gravity[3]);
  void (*release)(void* robot);
  void (*rnea)(void* robot, const double* q, const double* v, const double* a, double* tau);
  void (*crba)(void* robot, const double* q, double* M); /* nv x nv, by columns, upper triangle */
  void (*aba)(void* robot, const double* q, const double* v, const double* tau, double* a);
  void (*set_contacts)(void* robot, const struct OpponentContact* contacts, int count);
  void (*constrained)(void* robot, const double* q, const double* v, const double* tau, double* a);
};

typedef const struct OpponentTable* (*OpponentEntryPoint)(void);

#ifdef __cplusplus
}
#endif
#endif
