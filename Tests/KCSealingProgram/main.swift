import Foundation
import KCByteStreams
import KCDeviceIdentity
import KCSecurityChip

// Creates, seals, unseals or loads a device key, on the TPM that a command reaches. The tests kill it, and look at what
// it prints, and at what is left in its memory.
//
// Arguments: the key file, the command that reaches the TPM, and what to do; `search` after it prints how often the
// secret is in memory.

let arguments = CommandLine.arguments
guard arguments.count >= 4 else { exit(64) }
let chip = TPM(.command(arguments[2]))
let provider = FileDeviceKeyProvider(path: arguments[1], machineIDPath: "/none", chip: DeviceChip(chip))
let day = KeyDay(year: 2026, month: 11, day: 21)

/// How often a secret is in the writable memory of this process, and a copy of it that was planted there.
///
/// The pattern is kept inverted, so that the search does not find itself.
func search(for inverted: [UInt8]) throws -> (found: Int, planted: Int) {
    let planted = UnsafeMutablePointer<UInt8>.allocate(capacity: inverted.count)
    for (index, byte) in inverted.enumerated() { planted[index] = byte ^ 0xa5 }
    let plant = UInt(bitPattern: planted)
    var (found, own) = (0, 0)
    let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
    let memory = open("/proc/self/mem", O_RDONLY)
    defer { close(memory) }
    let size = 1 << 20
    let pages = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let buffer = pages?.assumingMemoryBound(to: UInt8.self), pages != MAP_FAILED else { exit(71) }
    let place = UInt(bitPattern: buffer)
    for line in maps.split(separator: "\n") where line.contains(" rw") {
        let bounds = line.split(separator: " ")[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        var start = bounds[0]
        while start < bounds[1] {
            let count = pread(memory, buffer, min(size, Int(bounds[1] - start)), off_t(start))
            guard count > inverted.count else { break }
            for offset in 0...(count - inverted.count) {
                let address = start + UInt(offset)
                // The buffer has a copy of what was just read.
                if address + 64 > place, address < place + UInt(size) { continue }
                var matches = true
                for (index, byte) in inverted.enumerated() where buffer[offset + index] != byte ^ 0xa5 {
                    matches = false
                    break
                }
                if matches { if address == plant { own += 1 } else { found += 1 } }
            }
            if count < size { break }
            start += UInt(count - inverted.count)
        }
    }
    return (found, own)
}

/// A share of the keys of a passcode, or its password, inverted; both are made up.
func inverted(_ kind: String) -> [UInt8] { (0..<32).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ kind.utf8.count) } }

/// Seals a share behind a password, and opens it.
func guardShare() throws {
    let share = SecretBytes(copying: inverted("share").lazy.map { $0 ^ 0xa5 })
    let password = SecretBytes(copying: inverted("password").lazy.map { $0 ^ 0xa5 })
    let guarded = try chip.seal(share, behind: password)
    _ = try chip.unseal(guarded, with: password)
}

/// The secret in the file or in the chip, inverted.
func inverted() throws -> [UInt8] {
    let text = try provider.exported(on: day)
    var bytes = SecretBytes(capacity: 64)
    text.withBytes { span in
        span.forEachLine { line, _ in
            _ = Bech32.decode(line, prefix: "kcbackup-device-key-", uppercase: true, into: &bytes)
        }
    }
    return bytes.withBytes { span in span.indices.map { span[$0] ^ 0xa5 } }
}

do {
    // In a process that has not opened it before, the search would miss nothing; so it comes before.
    var patterns: [[UInt8]] = []
    if arguments.contains("search") {
        patterns = arguments[3] == "guard" ? [inverted("share"), inverted("password")] : [try inverted()]
    }
    switch arguments[3] {
    case "guard": try guardShare()
    case "create": _ = try provider.create(in: .file)
    case "seal": _ = try provider.seal(on: day)
    case "unseal": _ = try provider.unseal()
    default: try provider.load().prove()
    }
    for pattern in patterns {
        let result = try search(for: pattern)
        print("copies \(result.found), of a planted one \(result.planted)")
    }
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
