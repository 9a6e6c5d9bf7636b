package doctor

import (
	"net"
	"net/netip"
	"strconv"
	"testing"

	"parley/cmd/parley/config"
)

func TestDoctorMicrophone(t *testing.T) {
	for _, tt := range []struct{ http, base, cert, want string }{
		{":8080", "", "", "warn: no microphone"},
		{"127.0.0.1:8080", "", "", "ok: this machine only"},
		{"[::1]:8080", "", "", "ok: this machine only"},
		{":8080", "", "cert.pem", "ok: over HTTPS"},
		{"127.0.0.1:8080", "https://voice.example", "", "ok: https://voice.example"},
		{"127.0.0.1:8080", "http://voice.example", "", "warn: no microphone"},
		{":8080", "http://localhost:8080", "", "ok: this machine only"},
	} {
		judge(t, checkMicrophone(&config.Config{HTTPAddr: tt.http, BaseURL: tt.base, TLSCert: tt.cert}), tt.want)
	}
}

func TestDoctorWebRTC(t *testing.T) {
	_, text, _ := net.SplitHostPort(taken(t))
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	public := netip.MustParseAddr("203.0.113.9")
	for _, tt := range []struct {
		name    string
		cfg     config.Config
		running bool
		want    string
	}{
		{"off", config.Config{HTTPAddr: ":8080"}, false, "ok: off"},
		{"any, here", config.Config{WebRTC: true, HTTPAddr: "127.0.0.1:8080"}, false, "ok: any free one"},
		{"any", config.Config{WebRTC: true, HTTPAddr: ":8080"}, false, "warn: no firewall"},
		{"any, behind a proxy", config.Config{WebRTC: true, HTTPAddr: "127.0.0.1:8080", PublicIP: public}, false, "warn: no firewall"},
		{"taken", config.Config{WebRTC: true, HTTPAddr: "127.0.0.1:8080", WebRTCUDPPort: port}, false, "fail: in use by another program"},
		{"ours", config.Config{WebRTC: true, HTTPAddr: "127.0.0.1:8080", WebRTCUDPPort: port}, true, "ok: running Parley"},
		{"ours, on all", config.Config{WebRTC: true, HTTPAddr: ":8080", WebRTCUDPPort: port}, true, "ok: let UDP in"},
		{"not ours", config.Config{WebRTC: true, HTTPAddr: "198.51.100.7:8080", WebRTCUDPPort: port}, false, "fail: no address of this machine"},
	} {
		t.Run(tt.name, func(t *testing.T) { judge(t, checkWebRTC(&tt.cfg, tt.running), tt.want) })
	}
}
