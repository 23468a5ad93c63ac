// The device module of a liquid's particles: velocity to the faces and back, and the way through it. One block a leaf
// where particles are sorted by cell, one thread a particle where their order does not matter; no atomics, and every
// sum has an order of its own.
#include "particles.cuh"
#include "carry.cuh"
#include "advect.cuh"
