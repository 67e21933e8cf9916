// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "FirstPassword",
    dependencies: [.package(name: "kcbackup", path: "../..")],
    targets: [
        .executableTarget(
            name: "FirstPassword",
            dependencies: [.product(name: "Security", package: "kcbackup", condition: .when(platforms: [.linux]))]),
        .testTarget(name: "FirstPasswordTests", dependencies: ["FirstPassword"]),
    ])
