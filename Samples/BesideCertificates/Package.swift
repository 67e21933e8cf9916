// swift-tools-version: 6.2
import PackageDescription

// A package of its own, as a client's is: `make test-packages` builds and runs it.
let package = Package(
    name: "BesideCertificates",
    dependencies: [
        .package(name: "kcbackup", path: "../.."),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.0.0"),
    ],
    targets: [
        .executableTarget(
            name: "BesideCertificates",
            dependencies: [
                .product(name: "KeychainSecurity", package: "kcbackup"),
                .product(name: "SAMKeychain", package: "kcbackup"),
                .product(name: "X509", package: "swift-certificates"),
            ])
    ])
