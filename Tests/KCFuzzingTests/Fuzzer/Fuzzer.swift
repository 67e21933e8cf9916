import Foundation

/// The target that `FUZZ_TARGET` names.
private let target: FuzzTarget = {
    let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
    guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
        FileHandle.standardError.write(Data("FUZZ_TARGET is none of \(FuzzTarget.all.map(\.name))\n".utf8))
        exit(64)
    }
    return target
}()

/// Writes the seeds of the target into the folder `FUZZ_SEEDS`, if that is set, before the fuzzer reads it.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(_ count: OpaquePointer?, _ arguments: OpaquePointer?) -> CInt {
    guard let folder = ProcessInfo.processInfo.environment["FUZZ_SEEDS"] else { return 0 }
    for (number, seed) in target.seeds.enumerated() {
        let file = URL(filePath: folder).appending(path: "seed-\(number)")
        do { try Data(seed).write(to: file) } catch { fatalError("\(file.path): \(error)") }
    }
    return 0
}

/// What libFuzzer calls with every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    do {
        try target.run(bytes)
    } catch {
        fatalError("\(target) threw \(error)")
    }
    return 0
}
