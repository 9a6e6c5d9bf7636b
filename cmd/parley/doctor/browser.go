package doctor

import (
	"net"
	"net/url"
	"strconv"

	"parley/cmd/parley/config"
)

// checkMicrophone says whether browsers would give the server's pages a microphone: they
// do in a secure context only, over HTTPS or from this machine (W3C Secure Contexts).
func checkMicrophone(cfg *config.Config) Finding {
	base, err := url.Parse(cfg.BaseURL)
	switch {
	case err == nil && base.Scheme == "https":
		return good("%s is HTTPS", cfg.BaseURL)
	case cfg.HTTPS():
		return good("pages are reached over HTTPS")
	case cfg.BaseURL == "" && config.ThisMachine(hostOf(cfg.HTTPAddr)), cfg.BaseURL != "" && err == nil && config.ThisMachine(base.Hostname()):
		return good("pages are for this machine only, where browsers want no HTTPS")
	}
	return warn("set PARLEY_TLS_DOMAIN, or PARLEY_TLS_CERT and PARLEY_TLS_KEY; or put a proxy in front that has HTTPS, and set PARLEY_BASE_URL to its https:// address",
		"pages are reached over HTTP: browsers on other machines give them no microphone")
}

// checkWebRTC looks at the UDP port of all WebRTC sessions, which is opened where HTTP
// listens.
func checkWebRTC(cfg *config.Config, running bool) Finding {
	if !cfg.WebRTC {
		return good("off: pages talk over WebSockets (PARLEY_WEBRTC_UDP_PORT)")
	}
	host := hostOf(cfg.HTTPAddr)
	if config.ThisMachine(host) && cfg.PublicIP.IsValid() {
		host = "" // a proxy stands before HTTP, and nothing before UDP
	}
	if cfg.WebRTCUDPPort == 0 {
		if config.ThisMachine(host) {
			return good("any free one")
		}
		return warn("set PARLEY_WEBRTC_UDP_PORT to one that the firewall lets in", "any free one, another after each start: no firewall can let it in")
	}
	addr := net.JoinHostPort(host, strconv.Itoa(cfg.WebRTCUDPPort))
	f := checkPort("WEBRTC_UDP_PORT", addr, udpPort, func() bool { return running })
	if f.Status == Fine && !config.ThisMachine(host) {
		f.Detail += "; a firewall must let UDP in there"
	}
	return f
}

// hostOf is the host of host:port.
func hostOf(addr string) string {
	host, _, _ := net.SplitHostPort(addr)
	return host
}
