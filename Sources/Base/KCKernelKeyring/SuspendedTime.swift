internal import Glibc

/// The time the machine has been suspended since boot.
package enum SuspendedTime {
    /// In milliseconds: `CLOCK_BOOTTIME` minus `CLOCK_MONOTONIC` (clock_gettime(2)).
    package static func milliseconds() -> Int64 {
        milliseconds(CLOCK_BOOTTIME) - milliseconds(CLOCK_MONOTONIC)
    }

    private static func milliseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        let status = unsafe clock_gettime(clock, &time)
        // Linux has had both clocks since 2.6.39.
        precondition(status == 0, "the kernel has no such clock")
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
