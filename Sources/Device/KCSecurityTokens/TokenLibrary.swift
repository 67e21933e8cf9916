internal import CKCFIDO2
internal import Glibc

/// The functions of libfido2, loaded when they are first needed.
enum TokenLibrary {
    /// The table of functions; none of them may be called before `load` has returned.
    nonisolated(unsafe) static let functions: UnsafePointer<cfido2_functions> = unsafe UnsafePointer(table)

    /// The name of the library for the dynamic linker.
    private static let name = "libfido2.so.1"

    nonisolated(unsafe) private static let table = {
        let table = UnsafeMutablePointer<cfido2_functions>.allocate(capacity: 1)
        unsafe table.initialize(to: cfido2_functions())
        return unsafe table
    }()

    private static let missing: String? = {
        // If this variable is set, the library prints all traffic, even if logging is off.
        unsafe unsetenv("FIDO_DEBUG")
        return unsafe cfido2_load(table, name).map { unsafe String(cString: $0) }
    }()

    /// Makes sure that the functions can be called on this thread.
    ///
    /// Tokens of the older standard U2F are left alone: they have no secrets.
    static func load() throws(TokenFailure) {
        if let missing { throw .libraryMissing(missing) }
        unsafe functions.pointee.fido_init(cfido2_no_u2f)
    }
}
