internal import ByteStreams
internal import Foundation

/// The names in a folder, without `.` and `..`; none when there is no such folder.
///
/// - Throws: `FileFailure` (`system`).
func fileNames(in folder: String) throws(FileFailure) -> [String] {
    if !Path.exists(folder) { return [] }
    do {
        return try FileManager.default.contentsOfDirectory(atPath: folder)
    } catch {
        throw FileFailure(folder, .system(systemCode(of: error), doing: "listing"))
    }
}

/// Removes a file that may be missing.
///
/// - Throws: `FileFailure` (`system`).
func removeFile(_ path: String) throws(FileFailure) {
    if !Path.exists(path) { return }
    do {
        try FileManager.default.removeItem(atPath: path)
    } catch {
        throw FileFailure(path, .system(systemCode(of: error), doing: "removing"))
    }
}

/// The `errno` that Foundation met, or EIO.
private func systemCode(of error: any Error) -> Int32 {
    let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
    guard let underlying, underlying.domain == NSPOSIXErrorDomain else { return Int32(POSIXErrorCode.EIO.rawValue) }
    return Int32(underlying.code)
}
