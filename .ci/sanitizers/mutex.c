// Tells the thread sanitizer what a mutex of Swift's library does when it is waited for: the library is not built for the
// sanitizer, which would take what a mutex orders for a race. The other calls of a mutex are compiled into its users.
//
// The names are those of _MutexHandle._lockSlow(_:) and _MutexHandle._unlockSlow(); the linker puts these in their places.
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))
#define NAMED(prefix, name) __asm__(prefix "$s15Synchronization12_MutexHandleV" name)

void __tsan_acquire(void *);
void __tsan_release(void *);

SWIFT void library_lock(uint32_t thread, SELF void *mutex) NAMED("__real_", "9_lockSlowyys6UInt32VF");
SWIFT void library_unlock(SELF void *mutex) NAMED("__real_", "11_unlockSlowyyF");
SWIFT void lock(uint32_t thread, SELF void *mutex) NAMED("__wrap_", "9_lockSlowyys6UInt32VF");
SWIFT void unlock(SELF void *mutex) NAMED("__wrap_", "11_unlockSlowyyF");

SWIFT void lock(uint32_t thread, SELF void *mutex) {
    library_lock(thread, mutex);
    __tsan_acquire(mutex);
}

SWIFT void unlock(SELF void *mutex) {
    __tsan_release(mutex);
    library_unlock(mutex);
}
