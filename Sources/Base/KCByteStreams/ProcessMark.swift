internal import Glibc
internal import Synchronization

/// Tells a process from those that it was forked from, without a system call each time.
@safe enum ProcessMark {
    /// A number in a page that the system clears in a child; nil where it cannot.
    nonisolated(unsafe) private static let page: UnsafeMutablePointer<Atomic<Int>>? = {
        let size = sysconf(Int32(_SC_PAGESIZE))
        let memory = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let memory = unsafe memory, unsafe memory != MAP_FAILED else { return nil }
        guard unsafe madvise(memory, size, MADV_WIPEONFORK) == 0 else {
            unsafe munmap(memory, size)
            return nil
        }
        let page = unsafe memory.bindMemory(to: Atomic<Int>.self, capacity: 1)
        unsafe page.initialize(to: Atomic(0))
        return unsafe page
    }()
    private static let last = Atomic<Int>(0)

    /// A number that no process has from which this one was forked.
    static var current: Int {
        guard let page = unsafe page else { return Int(getpid()) }
        let mark = unsafe page.pointee.load(ordering: .acquiring)
        if mark != 0 { return mark }
        let next = last.add(1, ordering: .relaxed).newValue
        let (isFirst, other) = unsafe page.pointee.compareExchange(
            expected: 0, desired: next, ordering: .acquiringAndReleasing)
        return isFirst ? next : other
    }
}
