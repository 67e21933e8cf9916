internal import Glibc
package import KCByteStreams
package import KCCryptography
internal import KCKeychainModel
internal import KCRemotes
internal import KCReportText

/// The part of a path that was typed as `REMOTE:PATH`, if there may be one.
private func remoteMeant(by path: String) -> String? {
    let parts = path.exact.split(separator: "/", omittingEmptySubsequences: false)
    guard let first = parts.firstIndex(where: { $0.exact.contains(":") }) else { return nil }
    return RemoteLocation(parts[first...].joined(separator: "/"))?.text
}

/// Explains a file failure.
package func explainFile(_ failure: FileFailure) -> Explanation {
    let path = quoted(failure.path)
    switch failure.problem {
    case .notFound:
        let found = Explanation(.notFound, "\(path) does not exist")
        guard let remote = remoteMeant(by: failure.path) else { return found }
        return found.adding([
            "if it is on a remote, 'kcbackup copy \(shellWord(remote)) \(OptionName.to.spelling) FOLDER' copies it here"
        ])
    case .exists:
        return Explanation(.exists, "\(path) exists already", hint: "choose another name, or remove it first")
    case .notFolder:
        return Explanation(
            .notFound, "\(path) is not a folder", hint: "choose another path, or move away what has this name")
    case .notRegular: return explainIrregular(failure)
    case .exposed(let mode):
        let message = "\(path) can be used by others (mode \(String(mode, radix: 8))) and is not trusted with a secret"
        // Programs of the system need its files as they are.
        if Path.isOfSystem(failure.path) {
            return Explanation(.refused, message, hint: "give a file of your own that only you can read")
        }
        return Explanation(
            .refused, message,
            hint:
                "run 'chmod 600 \(shellWord(failure.path))'; if others may have read it, change the secret")
    case .foreignOwner:
        return Explanation(.refused, "\(path) belongs to another user", hint: "make a copy of your own")
    case .sharedFolder(let mode):
        let message =
            "others can change what is in the folder \(path) (mode \(String(mode, radix: 8))), so nothing there is trusted"
        // A folder with the sticky bit, such as /tmp, is shared on purpose.
        if mode & 0o1000 != 0 {
            return Explanation(
                .refused, message, hint: "use a folder of mode 700 in your home folder")
        }
        return Explanation(
            .refused, message,
            hint: "if the folder is yours alone, run 'chmod go-w \(shellWord(failure.path))'",
            "otherwise use a folder of mode 700 in your home folder")
    case .foreignFolder(let owner):
        return Explanation(
            .refused, "the folder \(path) belongs to another user (UID \(owner)), so nothing there is trusted",
            hint: "under sudo, 'sudo -H' takes the home folder of the right user; XDG_DATA_HOME names another folder",
            "otherwise use a folder of your own")
    case .busy: return explainBusy(failure)
    case .changed:
        return Explanation(
            .busy, "\(path) was changed in the meantime; it is as the other program left it", hint: "try again")
    case .displaced(let other):
        return Explanation(
            .busy,
            "\(path) was replaced by several programs at once, and the version of one is at \(quoted(other)) now",
            hint: "compare the two, keep the right one under the first name, and try again")
    case .remains(let old, let code):
        return Explanation(
            .io, "\(path) is replaced, but what it was before could not be removed: \(words(ofSystemError: code))",
            hint: "remove it: 'rm \(shellWord(old))'")
    case .noSafeNaming:
        return Explanation(
            .io, "the file system cannot give \(path) its name without the risk of replacing another file",
            hint: "make the file in another folder, and copy it there")
    case .tooLarge(let limit): return Explanation(.limit, "\(path) has more than \(limit) bytes")
    case .system(let code, let doing): return explainSystem(code, "\(doing) \(path)")
    }
}

/// Explains that another program has the lock of a file.
private func explainBusy(_ failure: FileFailure) -> Explanation {
    let explanation = Explanation(
        .busy, "another program is changing \(quoted(failure.path))", hint: "wait until it has ended, and try again")
    guard failure.path.exact.hasSuffix("credentials.lock") else { return explanation }
    return explanation.adding(["if no git runs, a killed one has left this file: remove it"])
}

/// Explains that something is not a regular file.
private func explainIrregular(_ failure: FileFailure) -> Explanation {
    let path = quoted(failure.path)
    let kind: Path.Kind?
    do throws(FileFailure) {
        kind = try Path.kind(of: failure.path)
    } catch {
        kind = nil
    }
    switch kind {
    case .folder: return Explanation(.refused, "\(path) is a folder, not a file")
    case .other: return Explanation(.refused, "\(path) is a device, a pipe or a socket, not a regular file")
    case .file, .link, nil:
        return Explanation(
            .refused, "\(path) is not a regular file",
            hint: "give the path of the file itself, not of a folder, a device or a symbolic link")
    }
}

/// Explains a stream failure.
package func explainStream(_ failure: StreamFailure, _ path: String?) -> Explanation {
    let subject = path.map { quotedInput($0) + ": " } ?? ""
    let stage = failure.stage.rawValue
    switch failure.kind {
    case .truncated: return Explanation(.damaged, "\(subject)it ends early, found while \(stage)")
    case .malformed(let rule): return Explanation(.damaged, "\(subject)\(rule), found while \(stage)")
    case .authenticationFailed: return Explanation(.damaged, "\(subject)a part is not genuine, found while \(stage)")
    case .limitExceeded(let name, let found, let allowed):
        let number = found.map { "\($0), and " } ?? ""
        return Explanation(.limit, "\(subject)\(name): \(number)\(allowed) is the limit")
    case .system(let code): return explainSystem(code, path.map { "\(stage) \(quotedInput($0))" } ?? stage)
    case .library(let what): return explainBug("\(subject)a library failed (\(what)) while \(stage)")
    case .libraryMissing(let name): return explainMissing(library: name)
    case .interrupted: return explainInterruption()
    }
}

/// Explains that a library cannot be loaded; Debian names packages by name and version, as in "libarchive13".
private func explainMissing(library name: String) -> Explanation {
    let parts = name.exact.split(separator: ".").map { String($0) }
    let stem = parts.first ?? name
    // Debian's names of packages keep two numbers apart (`libyaml-0-2`).
    let isNumbered = stem.utf8.last.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
    let package = stem + (isNumbered ? "-" : "") + (parts.count > 1 ? parts[parts.count - 1] : "")
    return Explanation(
        .io, "the library \(quoted(name)) cannot be loaded",
        hint: "install it, unless memory is short; on Debian: 'apt-get install \(package)'")
}

/// Explains that standard output cannot be written to.
package func explainOutput(_ failure: StreamFailure) -> Explanation {
    if failure.kind == .system(EBADF) {
        return Explanation(
            .io, "standard output is closed, and the result would go there", hint: "leave out '>&-', or name a file")
    }
    let explanation = explainStream(failure, nil).prefixed("standard output does not accept the result: ")
    guard case .system(let code) = failure.kind, isFull(code) else { return explanation }
    return Explanation(explanation.status, explanation.message, hint: "make room where the output goes")
}

/// Explains that the temporary folder cannot be written to.
package func explainTemporaryFolder(_ cause: Explanation, _ path: String) -> Explanation {
    let status = [.interrupted, .terminated].contains(cause.status) ? cause.status : ExitStatus.io
    return Explanation(
        status, "the temporary folder \(quoted(path)) has no room for a copy: \(cause.message)",
        hint: "set TMPDIR to use another folder")
}

/// True for an `errno` that means there is no space left.
package func isFull(_ code: Int32) -> Bool { code == ENOSPC || code == EDQUOT }

/// Explains an `errno`.
private func explainSystem(_ code: Int32, _ doing: String) -> Explanation {
    let reason = words(ofSystemError: code)
    switch code {
    case EINTR where Interruption.isRequested: return explainInterruption()
    case EROFS: return Explanation(.io, "\(doing): \(reason)", hint: "choose a folder on another file system")
    case EACCES: return Explanation(.io, "\(doing): \(reason)", hint: "check who may read and write there")
    case EPERM:
        return Explanation(
            .io, "\(doing): \(reason)",
            hint: "check who may read and write there, and with 'lsattr' whether chattr keeps it from changes")
    case ENOSPC, EDQUOT:
        return Explanation(.io, "\(doing): \(reason)", hint: "make room, or choose another folder")
    default: return Explanation(.io, "\(doing): \(reason)")
    }
}

/// Returns texts for common errors, independent of the system's language.
package func words(ofSystemError code: Int32) -> String {
    switch code {
    case EACCES, EPERM: "permission denied"
    case EROFS: "the file system is read-only"
    case ENOSPC: "no space is left"
    case EDQUOT: "the quota is used up"
    case EFBIG: "the file would be too large"
    case EIO: "input or output error"
    case ENAMETOOLONG: "the name is too long"
    case EMFILE, ENFILE: "too many files are open"
    case EISDIR: "it is a folder"
    case ENOENT: "there is no such file or folder"
    case ENOEXEC: "it is no program"
    case EBADF: "it is not open for that"
    case ENOTDIR: "a part of the path is no folder"
    case ENOMEM: "no memory is left"
    case ENXIO, ENODEV: "the device is gone"
    case ENOLCK: "the file system keeps no locks"
    case ESTALE: "the file server no longer knows the file"
    default: "error \(code) of the operating system"
    }
}

/// Explains an interruption by a signal.
package func explainInterruption() -> Explanation {
    Explanation(
        Interruption.isFromKeyboard ? .interrupted : .terminated,
        "interrupted; nothing is left half-written under its name")
}

/// Explains a libcrypto failure.
package func explainCryptography(_ failure: CryptographyFailure) -> Explanation {
    switch failure {
    case .authentication: Explanation(.damaged, "a part is not genuine")
    case .outOfMemory(let bytes):
        Explanation(
            .io, "there is no memory for stretching a passphrase, which takes \(bytes / 1_048_576) MiB",
            hint: "raise the limit on memory ('ulimit -v'), or end other programs")
    case .randomness:
        Explanation(
            .io, "the operating system provides no random numbers, so no key can be made",
            hint: "see whether a sandbox forbids getrandom(2)")
    case .library(let operation): explainBug("libcrypto failed at '\(operation)'")
    case .libraryMissing(let name): explainMissing(library: name)
    case .unsupportedParameters(let what): explainBug("libcrypto was asked for an unsupported \(what)")
    case .chip(let failure): explainChip(failure)
    }
}
