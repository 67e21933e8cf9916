import Glibc
import KCByteStreams
import KCItemSources
import KCTestSupport

@testable import KCForeignFormats

/// Profiles of browsers in `Fixtures/Browsers`, in folders that tests may change.
enum BrowserFixtures {
    /// A copy of a profile.
    static func copy(_ profile: String, _ names: [String]) throws -> TemporaryFolder {
        let folder = try TemporaryFolder(inMemory: true)
        for name in names { try folder.write(name, file(profile, name)) }
        return folder
    }

    static func file(_ profile: String, _ name: String) throws -> [UInt8] {
        try ForeignReading.fixture("Browsers/\(profile)/\(name)")
    }

    /// Reads a folder in its format, which is recognized, or one of the files in it.
    static func read(
        _ folder: TemporaryFolder, _ name: String? = nil, password: String? = nil, key: ForeignFile? = nil
    ) throws -> ForeignContents {
        let input: ForeignInput
        if let name {
            let file = try ForeignFile(reading: OpenFile.reading(folder.path(name)))
            input = ForeignInput(path: folder.path(name), .file(file))
        } else {
            input = ForeignInput(path: folder.path(""), .folder)
        }
        return try KnownFormats.recognise(input).read(input, GivenSecrets(text: password, key: key))
    }

    /// The kind of failure and its text, for failures whose texts are long.
    static func refusal(_ body: () throws -> ForeignContents) -> String? {
        do {
            _ = try body()
            return nil
        } catch ForeignFailure.refused(let title, _) {
            return title
        } catch {
            return "\(error)"
        }
    }

    /// Locks a part of a file for writing, for as long as the result lives.
    ///
    /// A lock of an open file conflicts with those of processes, even within one process.
    static func lock(_ path: String, from start: Int = 0, count: Int = 0) throws -> OpenFile {
        let file = OpenFile(owning: unsafe open(path, O_RDWR), path: path)
        var range = Glibc.flock()
        range.l_type = Int16(F_WRLCK)
        range.l_whence = Int16(SEEK_SET)
        range.l_start = start
        range.l_len = count
        // F_OFD_SETLK.
        let status = unsafe withUnsafeMutablePointer(to: &range) { unsafe fcntl(file.descriptor, 37, $0) }
        guard status == 0 else { throw FileFailure(path, .system(errno, doing: "locking")) }
        return file
    }
}
