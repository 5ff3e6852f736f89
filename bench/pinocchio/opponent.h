/* Pinocchio as an opponent: a door of plain C, so that its build (own compiler, own flags, own
   alignment of Eigen's types) and limb's never meet in one header. One shared library for each
   compiler exports one opponent_table. */
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
  double R[9], p[3]; /* joint frame in the parent's, R by rows */
  double mass, center[3], inertia[9];
};

/* A point of a body that stands on the ground; with `surface` all of the body stands. */
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

typedef const struct OpponentTable* (*OpponentDoor)(void);

#ifdef __cplusplus
}
#endif
#endif
