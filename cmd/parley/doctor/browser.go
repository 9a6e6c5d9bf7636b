package doctor

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"

	"parley/cmd/parley/config"
)

// checkMicrophone says whether browsers would give the server's pages a microphone: they
// do in a secure context only, over HTTPS or from this machine (W3C Secure Contexts).
func checkMicrophone(cfg *config.Config) Finding {
	const name = "microphone"
	base, err := url.Parse(cfg.BaseURL)
	switch {
	case err == nil && base.Scheme == "https":
		return good(name, "%s is HTTPS", cfg.BaseURL)
	case cfg.TLSCert != "":
		return good(name, "pages are reached over HTTPS")
	case cfg.BaseURL == "" && isLoopback(hostOf(cfg.HTTPAddr)), cfg.BaseURL != "" && err == nil && isLoopback(base.Hostname()):
		return good(name, "pages are for this machine only, where browsers want no HTTPS")
	}
	return warn(name, "set PARLEY_TLS_CERT and PARLEY_TLS_KEY; or put a proxy in front that has HTTPS, and set PARLEY_BASE_URL to its https:// address",
		"pages are reached over HTTP: browsers on other machines give them no microphone")
}

// checkWebRTC looks at the UDP port of all WebRTC sessions, which is opened where HTTP
// listens.
func checkWebRTC(cfg *config.Config, running bool) Finding {
	const name = "webrtc port"
	if !cfg.WebRTC {
		return good(name, "off: pages talk over WebSockets (PARLEY_WEBRTC_UDP_PORT)")
	}
	host := hostOf(cfg.HTTPAddr)
	if isLoopback(host) && cfg.PublicIP.IsValid() {
		host = "" // a proxy stands before HTTP, and nothing before UDP
	}
	if cfg.WebRTCUDPPort == 0 {
		if isLoopback(host) {
			return good(name, "any free one")
		}
		return warn(name, "set PARLEY_WEBRTC_UDP_PORT to one that the firewall lets in", "any free one, another after each start: no firewall can let it in")
	}
	addr := net.JoinHostPort(host, strconv.Itoa(cfg.WebRTCUDPPort))
	f := checkPort(name, "WEBRTC_UDP_PORT", addr, udpPort, func() bool { return running })
	if f.Status == Fine && !isLoopback(host) {
		f.Detail += "; a firewall must let UDP in there"
	}
	return f
}

// hostOf is the host of host:port.
func hostOf(addr string) string {
	host, _, _ := net.SplitHostPort(addr)
	return host
}

func isLoopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.Unmap().IsLoopback()
}
