internal import CKCSandbox
internal import Glibc

/// Takes files, the network and other processes from this process, which needs none of them to read.
///
/// ```swift
/// // First in `main`, before a thread starts.
/// try Sandbox.enter(addressSpace: 2 << 30)
/// ```
///
/// The descriptors that are named stay, memory up to a limit, time and random bytes. A call for anything else ends
/// the process with `RefusedCall.status`, and its number is written for the process that started this one. There is no
/// way back. Libraries that open files or start threads must have done that before.
package enum Sandbox {
    /// The name of libseccomp for the dynamic linker.
    private static let library = "libseccomp.so.2"
    // A reader walks a folder that has few levels.
    private static let descriptorLimit: UInt32 = 64

    /// Enters the sandbox.
    ///
    /// - Parameters:
    ///   - addressSpace: the limit of addresses in bytes, including those of the program and its libraries.
    ///   - folder: a folder whose files can be read; nil for no file at all.
    ///   - kept: descriptors that stay open besides 0, 1, 2 and those of the other parameters.
    ///   - record: where a refused call is written, a pipe.
    /// - Throws: `SandboxFailure`: `noLandlock`, `noSeccomp`, `severalThreads` and `writableFile` before anything is
    ///   changed, and `system`, after which the process must end.
    package static func enter(
        addressSpace: UInt, reading folder: Int32? = nil, keeping kept: [Int32] = [], record: Int32 = 2
    ) throws(SandboxFailure) {
        let support = SandboxSupport()
        guard let version = support.landlockVersion else { throw .noLandlock }
        guard support.hasFilters else { throw .noSeccomp }
        let threads = csandbox_check_threads()
        if threads == EINVAL { throw .severalThreads }
        try step(threads, "counting threads")
        let descriptors = Set([0, 1, 2, record] + kept + (folder.map { [$0] } ?? []))
        for descriptor in descriptors.sorted() { try check(descriptor) }

        try step(unsafe csandbox_load(library), "loading \(library)")
        try closeOthers(than: descriptors)
        try step(csandbox_renounce(), "renouncing privileges")
        try step(csandbox_limit(addressSpace, descriptorLimit), "setting limits")
        try step(csandbox_lock(version, folder ?? -1), "closing the files with Landlock")
        try step(csandbox_report(record), "preparing the record of a refused call")
        try step(csandbox_filter(folder == nil ? 0 : 1), "loading the filter of system calls")
    }

    private static func check(_ descriptor: Int32) throws(SandboxFailure) {
        let code = csandbox_check_descriptor(descriptor)
        if code == EISDIR { throw .writableFile(descriptor) }
        try step(code, "looking at descriptor \(descriptor)")
    }

    private static func closeOthers(than kept: Set<Int32>) throws(SandboxFailure) {
        var first: UInt32 = 0
        for descriptor in kept.sorted().map(UInt32.init) {
            if first < descriptor { try step(csandbox_close(first, descriptor - 1), "closing descriptors") }
            first = descriptor + 1
        }
        try step(csandbox_close(first, .max), "closing descriptors")
    }

    private static func step(_ code: Int32, _ doing: String) throws(SandboxFailure) {
        if code != 0 { throw .system(code, doing: doing) }
    }
}
