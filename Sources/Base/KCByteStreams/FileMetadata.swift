internal import CKCFiles
internal import Glibc

/// The properties of a file apart from its contents: permissions, owner, times, access control list and extended
/// attributes of users.
///
/// Attributes of the system, such as security labels, belong to the place and not to the file.
package struct FileMetadata: Hashable, Sendable {
    /// The path of the file, for messages.
    private let path: String
    /// The lowest twelve bits of the mode.
    private let permissions: UInt32
    private let owner: UInt32
    private let group: UInt32
    /// Of access and of modification.
    private let times: [Time]
    private let attributes: [Attribute]

    private struct Time: Hashable {
        let seconds: Int
        let nanoseconds: Int

        init(_ time: timespec) {
            seconds = time.tv_sec
            nanoseconds = time.tv_nsec
        }
    }

    private struct Attribute: Hashable {
        let name: [UInt8]
        let value: [UInt8]
    }

    // In bytes, as the kernel limits the list of names, and each value (xattr(7)).
    private static let attributeLimit = 65_536
    private static let accessList = Array("system.posix_acl_access".utf8)

    /// Reads what an open file has.
    package init(of file: OpenFile) throws(FileFailure) {
        let status = try file.status()
        path = file.path
        permissions = status.st_mode & 0o7777
        owner = status.st_uid
        group = status.st_gid
        times = [Time(status.st_atim), Time(status.st_mtim)]
        var attributes: [Attribute] = []
        for name in try Self.names(of: file) where name.starts(with: "user.".utf8) || name == Self.accessList {
            attributes.append(Attribute(name: name, value: try Self.value(of: name, of: file)))
        }
        self.attributes = attributes
    }

    /// Gives them to an open file, and leaves it readable to no more users on the way.
    ///
    /// - Throws: `FileFailure` with the path of the file that they were read of: a new one has no name yet.
    package func apply(to file: OpenFile) throws(FileFailure) {
        do throws(FileFailure) {
            try set(on: file)
        } catch {
            throw FileFailure(path, error.problem)
        }
    }

    private func set(on file: OpenFile) throws(FileFailure) {
        let status = try file.status()
        if status.st_uid != owner || status.st_gid != group { try file.setOwner(user: owner, group: group) }
        try file.setPermissions(permissions)
        for attribute in attributes {
            let code = unsafe Self.withName(attribute.name) { name in
                unsafe attribute.value.withUnsafeBytes { value in
                    unsafe cfiles_set_attribute(file.descriptor, name, value.baseAddress, value.count)
                }
            }
            guard code == 0 else { throw Self.failure(file, "setting an extended attribute of") }
        }
        let times = times.map { timespec(tv_sec: $0.seconds, tv_nsec: $0.nanoseconds) }
        guard unsafe futimens(file.descriptor, times) == 0 else { throw Self.failure(file, "setting the times of") }
    }

    /// The names of all attributes; none on a file system without them.
    private static func names(of file: OpenFile) throws(FileFailure) -> [[UInt8]] {
        var list = [UInt8](repeating: 0, count: attributeLimit)
        let count = unsafe list.withUnsafeMutableBytes { buffer in
            unsafe cfiles_list_attributes(file.descriptor, buffer.baseAddress, buffer.count)
        }
        guard count >= 0 else {
            if errno == ENOTSUP { return [] }
            throw failure(file, "listing the extended attributes of")
        }
        return list.prefix(count).split(separator: 0).map { Array($0) }
    }

    private static func value(of attribute: [UInt8], of file: OpenFile) throws(FileFailure) -> [UInt8] {
        var value = [UInt8](repeating: 0, count: attributeLimit)
        let count = unsafe withName(attribute) { name in
            unsafe value.withUnsafeMutableBytes { buffer in
                unsafe cfiles_get_attribute(file.descriptor, name, buffer.baseAddress, buffer.count)
            }
        }
        guard count >= 0 else { throw failure(file, "reading an extended attribute of") }
        return Array(value.prefix(count))
    }

    private static func withName<Result>(
        _ name: [UInt8], _ body: (UnsafePointer<CChar>) -> Result
    ) -> Result {
        let terminated = name.map { CChar(bitPattern: $0) } + [0]
        return unsafe terminated.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { preconditionFailure("the name has its zero byte") }
            return unsafe body(start)
        }
    }

    private static func failure(_ file: OpenFile, _ doing: String) -> FileFailure {
        FileFailure(file.path, .system(errno, doing: doing))
    }
}

extension OpenFile {
    /// Keeps others from opening the file for writing while this object lives.
    ///
    /// - Returns: false if another process has it open for writing for longer than 0.1 seconds, or if the file system cannot
    ///   tell.
    package func holdAgainstWriters() -> Bool {
        // A process that is being started holds copies of the descriptors of its parent until it executes its program.
        for _ in 0..<20 {
            if cfiles_hold_against_writers(descriptor) == 0 { return true }
            guard errno == EAGAIN else { return false }
            var time = timespec(tv_sec: 0, tv_nsec: 5_000_000)
            unsafe nanosleep(&time, nil)
        }
        return false
    }

    /// Ends what `holdAgainstWriters` began.
    package func releaseToWriters() { _ = cfiles_release_to_writers(descriptor) }

    /// True after `holdAgainstWriters`, unless a process has asked to open the file for writing since.
    package var isHeldAgainstWriters: Bool { cfiles_is_held_against_writers(descriptor) != 0 }
}
