import Foundation

/// libFuzzer, which calls `test` with every input (llvm.org/docs/LibFuzzer.html, "Using libFuzzer as a library").
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

private let environment = ProcessInfo.processInfo.environment
/// The target that `FUZZ_TARGET` names.
private let target: FuzzTarget = {
    guard let target = FuzzTarget.all.first(where: { $0.name == environment["FUZZ_TARGET"] }) else {
        print("FUZZ_TARGET is one of: \(FuzzTarget.all.map(\.name).joined(separator: " "))")
        exit(64)
    }
    return target
}()

/// Runs the target on an input, under the name by which libFuzzer's own entry point, which the library has too, finds it.
///
/// - Returns: 0; whatever breaks a rule ends the process.
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

if let folder = environment["FUZZ_SEEDS"] {
    for (number, seed) in target.seeds.enumerated() {
        try Data(seed).write(to: URL(filePath: folder).appending(path: "seed-\(number)"))
    }
}
var count = CommandLine.argc
var arguments = unsafe CommandLine.unsafeArgv
_ = target
exit(unsafe runDriver(&count, &arguments, test))
