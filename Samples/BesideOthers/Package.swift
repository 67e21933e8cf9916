// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// The identity of the package, by which its aliases are found: the last part of its URL or, as here, of its path.
let kcbackup = URL(filePath: Context.packageDirectory + "/../..").standardizedFileURL.lastPathComponent

// A package of its own, as a client's is: `make test-packages` builds and runs it. Both products of the library are in
// one build with packages that test `canImport(Security)`, so the module `Security` gets another name.
let package = Package(
    name: "BesideOthers",
    dependencies: [
        .package(path: "../.."),
        .package(path: "Others"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.0.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.0.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.0.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.0.0"),
    ],
    targets: [
        .target(
            name: "AppleCode",
            dependencies: [
                .product(name: "Security", package: kcbackup, moduleAliases: ["Security": "KeychainCalls"])
            ]),
        .executableTarget(
            name: "BesideOthers",
            dependencies: [
                "AppleCode",
                .product(name: "KeychainSecurity", package: kcbackup),
                .product(name: "SAMKeychain", package: kcbackup),
                .product(name: "Others", package: "Others"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "X509", package: "swift-certificates"),
            ]),
    ])
