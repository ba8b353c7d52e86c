#if Sites
import OtaflashDevices
import OtaflashNATS
import OtaflashSiteHost
import OtaflashSites

/// A sample of every fault of the coordinator and of a gateway.
extension FaultSamples {
  static let sites: [SiteHostFault] = [
    .broker(.unreachable("no server")), .broker(.authenticationRefused("unknown key")),
    .credentials(.noServers), .otherCredentials(path: "a.creds", isGateway: true),
    .leadership(.running(host: "hub")), .images(.cancelled),
    .campaign(path: "c.yaml", words: "a device has no site"), .page(words: "no account exists"),
    .olderLog(run: "7f3a12", device: "door-01"), .refused(words: "the run has ended"),
    .noAnswer(words: "the server does not answer"),
    .token(words: "the file does not exist"),
  ]
}
#endif
