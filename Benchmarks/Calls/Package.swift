// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that the main build does not carry it: `Benchmarks/measure-calls.sh` builds and runs it.
let package = Package(
    name: "Calls",
    dependencies: [.package(name: "kcbackup", path: "../..")],
    targets: [
        .systemLibrary(name: "BareSQLite"),
        .executableTarget(
            name: "Calls", dependencies: [.product(name: "Security", package: "kcbackup"), "BareSQLite"]),
    ])
