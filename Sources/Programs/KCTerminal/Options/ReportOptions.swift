internal import ArgumentParser
package import KCReportPages

/// The options for the form of a report, beside text and JSON.
package struct ReportOptions: ParsableArguments {
    @Flag(name: OptionName.prometheus.name, help: "Print the figures for Prometheus.")
    package var prometheus = false

    @Option(
        name: OptionName.html.name,
        help: ArgumentHelp(
            "Make a page of it for a browser; an earlier page of this kind is replaced.", valueName: "file"),
        completion: .file(extensions: ["html"]))
    private var html: String?

    package init() {}

    /// Refuses two forms at once.
    package func check(with style: StyleOptions) throws(UsageProblem) {
        if prometheus, style.json { throw .together(.prometheus, .json) }
        if html != nil, prometheus { throw .together(.html, .prometheus) }
        if html != nil, style.json { throw .together(.html, .json) }
    }

    /// The page that was asked for.
    ///
    /// - Parameter mark: the start of an earlier page, which may be replaced.
    /// - Throws: as `ReportFile.init`.
    package func page(replacing mark: HTML, in session: Session) throws -> ReportFile? {
        try html.map { try ReportFile($0, replacing: mark, in: session) }
    }
}
