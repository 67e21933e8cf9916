internal import CKCTPM2
internal import Glibc
internal import KCCryptography

/// The functions of tpm2-tss, loaded when they are first needed.
enum TPMLibrary {
    /// The table of functions; none of them may be called before `load` has returned.
    nonisolated(unsafe) static let functions: UnsafePointer<ctpm2_functions> = unsafe UnsafePointer(table)

    nonisolated(unsafe) private static let table = {
        let table = UnsafeMutablePointer<ctpm2_functions>.allocate(capacity: 1)
        unsafe table.initialize(to: ctpm2_functions())
        return unsafe table
    }()

    private static let missing: String? = {
        // The library prints what it sends and receives, secrets too, if its environment says so; there is no call that
        // forbids it.
        unsafe setenv("TSS2_LOG", "all+NONE", 1)
        unsafe unsetenv("TSS2_LOGFILE")
        return unsafe ctpm2_load(table).map { unsafe String(cString: $0) }
    }()

    /// Makes sure that the functions can be called.
    static func load() throws(ChipFailure) {
        if let missing { throw .libraryMissing(missing) }
    }
}
