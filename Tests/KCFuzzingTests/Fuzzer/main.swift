import Foundation

/// libFuzzer, which calls `test` with every input (llvm.org/docs/LibFuzzer.html, "Using libFuzzer as a library").
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

let environment = ProcessInfo.processInfo.environment
guard let target = FuzzTarget.all.first(where: { $0.name == environment["FUZZ_TARGET"] }) else {
    print("FUZZ_TARGET is one of: \(FuzzTarget.all.map(\.name).joined(separator: " "))")
    exit(64)
}
if let folder = environment["FUZZ_SEEDS"] {
    for (number, seed) in target.seeds.enumerated() {
        try Data(seed).write(to: URL(filePath: folder).appending(path: "seed-\(number)"))
    }
}
/// What the C function below uses.
let current = target
var count = CommandLine.argc
var arguments = unsafe CommandLine.unsafeArgv
exit(
    unsafe runDriver(&count, &arguments) { start, count in
        let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
        do {
            try current.run(bytes)
        } catch {
            fatalError("\(current) threw \(error)")
        }
        return 0
    })
