#include "ring.h"

#include <structmember.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const uint64_t kMagic = 0x474e495250455453;  // "STEPRING"
static const uint64_t kVersion = 1;
static const uint64_t kLongest = 0xffffffff;
static const uint64_t kMicros = (uint64_t)1 << 63;
static const uint64_t kClamped = (uint64_t)1 << 62;
static const uint64_t kAfterLoss = (uint64_t)1 << 61;
static const uint64_t kStepMask = ((uint64_t)1 << 60) - 1;

enum { kHeaderWords = 512, kSlotWords = 4, kHeaderBytes = 4096, kSlotBytes = 32, kLeastSlots = 64 };
enum { kMagicWord = 0, kVersionWord = 1, kClockWord = 2 };
enum { kWriteWord = 8, kDroppedWord = 9, kReadWord = 16, kControlWord = 17 };

uint64_t rings_closed = 0;

static uint64_t Load(const uint64_t* word) {
  return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void Store(uint64_t* word, uint64_t value) {
  __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static int64_t ClockNs(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t MonotonicNs(void) {
  return ClockNs(CLOCK_MONOTONIC);
}

static void PutKeptWait(Ring* ring);

// `step` is the number of a step, perhaps with flags.
static void Put(Ring* ring, int64_t start_ns, int64_t end_ns, uint64_t kind_and_name,
                uint64_t value, uint64_t step) {
  if (ring->wait_ns != 0) PutKeptWait(ring);
  uint64_t* const words = ring->words;
  const uint64_t position = ring->position;
  const uint64_t read = Load(&words[kReadWord]);
  if (position > read && position - read >= ring->slots) {
    ring->lost = 1;
    Store(&words[kDroppedWord], words[kDroppedWord] + 1);
    return;
  }
  uint64_t length = end_ns > start_ns ? (uint64_t)(end_ns - start_ns) : 0;
  uint64_t flags = ring->lost ? kAfterLoss : 0;
  if (length > kLongest) {
    length /= 1000;
    flags |= length > kLongest ? kMicros | kClamped : kMicros;
    if (length > kLongest) length = kLongest;
  }
  ring->lost = 0;
  uint64_t* const slot = words + kHeaderWords + (position & (ring->slots - 1)) * kSlotWords;
  Store(&slot[0], (uint64_t)start_ns);
  Store(&slot[1], length | kind_and_name);
  Store(&slot[2], value);
  Store(&slot[3], step | flags);
  ring->position = position + 1;
  __atomic_store_n(&words[kWriteWord], position + 1, __ATOMIC_RELEASE);
}

static void PutKeptWait(Ring* ring) {
  const int64_t length_ns = ring->wait_ns;
  ring->wait_ns = 0;
  Put(ring, ring->wait_end - length_ns, ring->wait_end, ring->wait_name, 0, ring->number);
}

void PutWait(Ring* ring, int64_t start_ns, int64_t end_ns, uint64_t kind_and_name) {
  const int joins = ring->wait_ns != 0 && ring->wait_name == kind_and_name &&
                    MayJoin(ring->wait_ns, ring->wait_end, start_ns);
  if (ring->wait_ns != 0 && !joins) PutKeptWait(ring);
  ring->wait_ns += end_ns - start_ns;
  ring->wait_end = end_ns;
  ring->wait_name = kind_and_name;
}

void PutMark(Ring* ring, int64_t start_ns, int64_t end_ns, uint64_t kind_and_name) {
  Put(ring, start_ns, end_ns, kind_and_name, 0, ring->number);
}

void PutValue(Ring* ring, int64_t at_ns, uint64_t kind_and_name, uint64_t value) {
  Put(ring, at_ns, at_ns, kind_and_name, value, ring->number);
}

void PutGpuTime(Ring* ring, int64_t start_ns, int64_t length_ns, uint64_t name, uint64_t number) {
  const int known = length_ns >= 0;
  Put(ring, start_ns, start_ns + (known ? length_ns : 0), KindAndName(kGpuTimeMark, name), 0,
      (number & kStepMask) | (known ? 0 : kClamped));
}

int EndStep(Ring* ring, int64_t now_ns, const uint64_t* number) {
  const int was_open = ring->start != 0;
  if (number != NULL) ring->number = *number & kStepMask;
  if (was_open) {
    PutMark(ring, ring->start, now_ns, KindAndName(kStepMark, 0));
    ring->number = (ring->number + 1) & kStepMask;
  }
  ring->start = now_ns;
  return was_open;
}

uint64_t NumberBefore(const Ring* ring) {
  return (ring->number - 1) & kStepMask;
}

int WasCalled(Ring* ring) {
  const uint64_t word = Load(&ring->words[kControlWord]);
  const int called = word != ring->heard;
  ring->heard = word;
  return called;
}

static size_t Bytes(const Ring* ring) {
  return kHeaderBytes + ring->slots * kSlotBytes;
}

// fstat(2) by its number: the function's name is bound to a newer libc than the extension needs.
static int Stat(int fd, struct stat* seen) {
  return syscall(SYS_fstat, fd, seen) == 0;
}

// The script may have closed the descriptor, and have a file of its own under the number. Nothing
// else runs between this and what follows, for the GIL is held, but what other threads do without
// it.
static int IsOurs(const Ring* ring) {
  struct stat seen;
  return ring->words != NULL && Stat(ring->fd, &seen) && seen.st_dev == ring->device &&
         seen.st_ino == ring->inode;
}

static void SayClock(Ring* ring) {
  Store(&ring->words[kClockWord], (uint64_t)(ClockNs(CLOCK_REALTIME) - MonotonicNs()));
}

// Maps the memory, whose number of slots must be a power of two.
static int Map(Ring* ring, int fd) {
  const int64_t slots = (lseek(fd, 0, SEEK_END) - kHeaderBytes) / kSlotBytes;
  if (slots < kLeastSlots || (slots & (slots - 1)) != 0) {
    PyErr_SetString(PyExc_ValueError, "the memory is not that of a ring");
    return -1;
  }
  ring->slots = (uint64_t)slots;
  struct stat seen;
  void* const start = !Stat(fd, &seen)
                          ? MAP_FAILED
                          : mmap(NULL, Bytes(ring), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (start == MAP_FAILED) {
    PyErr_SetFromErrno(PyExc_OSError);
    return -1;
  }
  ring->words = start;
  ring->fd = fd;
  ring->device = seen.st_dev;
  ring->inode = seen.st_ino;
  ring->fresh = 1;
  Store(&ring->words[kVersionWord], kVersion | ring->slots << 32);
  SayClock(ring);
  Store(&ring->words[kMagicWord], kMagic);
  return 0;
}

static void Unmap(Ring* ring) {
  if (ring->words == NULL) return;
  rings_closed += 1;
  if (IsOurs(ring)) close(ring->fd);
  munmap(ring->words, Bytes(ring));
  ring->words = NULL;
  ring->fd = -1;
}

static PyObject* New(PyTypeObject* type, PyObject* args, PyObject* named) {
  int fd = -1;
  if (named != NULL || !PyArg_ParseTuple(args, "i:Ring", &fd)) return NULL;
  const allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  Ring* const ring = (Ring*)allocate(type, 0);
  if (ring == NULL || Map(ring, fd) == 0) return (PyObject*)ring;
  Py_DECREF((PyObject*)ring);
  return NULL;
}

static void Dealloc(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  Unmap((Ring*)self);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static int IsOpen(const Ring* ring) {
  if (ring->words == NULL) PyErr_SetString(PyExc_ValueError, "the ring is closed");
  return ring->words != NULL;
}

static PyObject* PutIn(PyObject* self, PyObject* args) {
  long long start_ns = 0;
  long long end_ns = 0;
  unsigned long long kind_and_name = 0;
  unsigned long long value = 0;
  if (!PyArg_ParseTuple(args, "LLK|K:put", &start_ns, &end_ns, &kind_and_name, &value)) return NULL;
  if (!IsOpen((Ring*)self)) return NULL;
  Put((Ring*)self, start_ns, end_ns, kind_and_name, value, ((Ring*)self)->number);
  Py_RETURN_NONE;
}

static PyObject* Step(PyObject* self, PyObject* args) {
  long long now_ns = 0;
  PyObject* number = Py_None;
  if (!PyArg_ParseTuple(args, "L|O:end_step", &now_ns, &number)) return NULL;
  const uint64_t given = number == Py_None ? 0 : PyLong_AsUnsignedLongLongMask(number);
  if (PyErr_Occurred() || !IsOpen((Ring*)self)) return NULL;
  EndStep((Ring*)self, now_ns, number == Py_None ? NULL : &given);
  Py_RETURN_NONE;
}

static PyObject* TellClock(PyObject* self, PyObject* Py_UNUSED(none)) {
  if (!IsOpen((Ring*)self)) return NULL;
  SayClock((Ring*)self);
  Py_RETURN_NONE;
}

static PyObject* GetFd(PyObject* self, void* Py_UNUSED(closure)) {
  return PyLong_FromLong(IsOurs((Ring*)self) ? ((Ring*)self)->fd : -1);
}

static PyObject* Dropped(PyObject* self, PyObject* Py_UNUSED(none)) {
  if (!IsOpen((Ring*)self)) return NULL;
  return PyLong_FromUnsignedLongLong(Load(&((Ring*)self)->words[kDroppedWord]));
}

static PyObject* Close(PyObject* self, PyObject* Py_UNUSED(none)) {
  Unmap((Ring*)self);
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"put", PutIn, METH_VARARGS, NULL},          {"end_step", Step, METH_VARARGS, NULL},
    {"say_clock", TellClock, METH_NOARGS, NULL}, {"dropped", Dropped, METH_NOARGS, NULL},
    {"close", Close, METH_NOARGS, NULL},         {NULL, NULL, 0, NULL},
};

static PyMemberDef members[] = {
    {"number", T_ULONGLONG, offsetof(Ring, number), 0, NULL},
    {"start", T_LONGLONG, offsetof(Ring, start), 0, NULL},
    {"fresh", T_BOOL, offsetof(Ring, fresh), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef properties[] = {{"fd", GetFd, NULL, NULL, NULL}, {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_new, New},         {Py_tp_dealloc, Dealloc},   {Py_tp_methods, methods},
    {Py_tp_members, members}, {Py_tp_getset, properties}, {0, NULL},
};

static PyType_Spec spec = {"stepscope._native.Ring", sizeof(Ring), 0, Py_TPFLAGS_DEFAULT, slots};

PyObject* MakeRingType(void) {
  return PyType_FromSpec(&spec);
}
