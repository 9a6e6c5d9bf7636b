package doctor

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"parley/cmd/parley/config"
	"parley/inference/openai/embedtest"
	"parley/inference/openai/realtimetest"
	"parley/sip/dialog"
	"parley/sip/sdp"
	"parley/sip/trunk"
	"parley/store/private"
)

// judge compares a Finding with what it should be, such as "fail: in use". Whatever
// is not in order comes with a way to mend it.
func judge(t *testing.T, f Finding, want string) {
	t.Helper()
	status, detail, _ := strings.Cut(want, ": ")
	if string(f.Status) != status || !strings.Contains(f.Detail, detail) || (f.Fix == "") != (f.Status == Fine) {
		t.Errorf("%+v, want %s", f, want)
	}
}

// taken is an address where something listens, over TCP and UDP.
func taken(t *testing.T) string {
	t.Helper()
	for range 20 { // another program may have the other half
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		conn, err := net.ListenPacket("udp", ln.Addr().String())
		if err != nil {
			ln.Close()
			continue
		}
		t.Cleanup(func() { ln.Close(); conn.Close() })
		return ln.Addr().String()
	}
	t.Fatal("no port is free over both TCP and UDP")
	return ""
}

func TestDoctorPorts(t *testing.T) {
	addr := taken(t)
	for _, tt := range []struct {
		name string
		addr string
		take func(string) error
		ours bool
		want string
	}{
		{"free", "127.0.0.1:0", tcpPort, false, "ok: is free"},
		{"taken", addr, tcpPort, false, "fail: in use by another program"},
		{"ours", addr, tcpPort, true, "ok: in use by a running Parley"},
		{"taken, UDP", addr, udpPort, false, "fail: in use by another program"},
		{"not ours", "198.51.100.7:8080", tcpPort, false, "fail: no address of this machine"},
	} {
		f := checkPort("HTTP_ADDR", tt.addr, tt.take, func() bool { return tt.ours })
		judge(t, f, tt.want)
	}
}

func TestDoctorKnowsParley(t *testing.T) {
	serveText := func(text string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }))
		t.Cleanup(s.Close)
		return s.Listener.Addr().String()
	}
	for _, tt := range []struct{ http, metrics, want string }{
		{`{"status":"draining","not_ready":[]}`, "parley_build_info 1", "ok: running Parley"},
		{`{"status":"ready"}`, "other_build_info 1", "fail: another program"},
		{`<html>`, "", "fail: another program"},
	} {
		cfg := &config.Config{HTTPAddr: serveText(tt.http), MetricsAddr: serveText(tt.metrics)}
		f, running := checkHTTP(t.Context(), cfg)
		judge(t, f, tt.want)
		judge(t, checkMetrics(t.Context(), cfg), tt.want)
		if running != (f.Status == Fine) {
			t.Errorf("running: %t", running)
		}
	}
}

func TestDoctorRTP(t *testing.T) {
	addr := taken(t)
	_, text, _ := net.SplitHostPort(addr)
	var port int
	fmt.Sscan(text, &port)
	pair := config.PortRange{First: port / 2 * 2, Last: port/2*2 + 1}
	if port%2 == 0 {
		pair.Last = port + 1
	}
	wide := config.PortRange{First: 20_000, Last: 29_999}
	for _, tt := range []struct {
		ports   config.PortRange
		running bool
		want    []Status
	}{
		{pair, false, []Status{Doubt, Broken}}, // the other of the pair may be somebody's too
		{pair, true, []Status{Fine}},
		{wide, false, []Status{Fine, Doubt}},
	} {
		f := checkRTP(&config.Config{SIPAddr: "127.0.0.1:0", RTPPorts: tt.ports}, tt.running)
		if f.Status != tt.want[0] && f.Status != tt.want[len(tt.want)-1] {
			t.Errorf("%+v, want %v", f, tt.want)
		}
	}
}

func TestDoctorAddress(t *testing.T) {
	list := func(text ...string) (all []netip.Addr) {
		for _, a := range text {
			all = append(all, netip.MustParseAddr(a))
		}
		return all
	}
	for _, tt := range []struct {
		name, sip, public string
		local             []netip.Addr
		want              string
	}{
		{"public", ":5060", "", list("198.51.100.7"), "ok: 198.51.100.7"},
		{"one of two", ":5060", "", list("10.0.0.7", "198.51.100.7"), "ok: 198.51.100.7"},
		{"private", ":5060", "", list("10.0.0.7"), "warn: 10.0.0.7 is private"},
		{"carrier grade", ":5060", "", list("100.64.1.1"), "warn: private"},
		{"bound to a private one", "10.0.0.7:5060", "", list("10.0.0.7", "198.51.100.7"), "warn: 10.0.0.7 is private"},
		{"translated", ":5060", "203.0.113.9", list("10.0.0.7"), "ok: must be forwarded"},
		{"told a private one", ":5060", "192.168.1.2", list("10.0.0.7"), "warn: 192.168.1.2 is private"},
		{"this machine only", "127.0.0.1:5060", "", list("10.0.0.7"), "ok: this machine only"},
		{"no network", ":5060", "", nil, "warn: no network"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := &config.Config{SIPAddr: tt.sip}
			if tt.public != "" {
				cfg.PublicIP = netip.MustParseAddr(tt.public)
			}
			judge(t, checkAddress(cfg, tt.local), tt.want)
		})
	}
	off := checkTelephone(t.Context(), &config.Config{Carrier: "none", SIPAddr: ":5060"}, false)
	if len(off) != 1 {
		t.Errorf("without telephony: %v", off)
	}
}

func TestDoctorEngines(t *testing.T) {
	speech := filepath.Dir(program)
	remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/models" || r.Header.Get("Authorization") != "Bearer sk_engine" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer remote.Close()
	at := func(engine, url, key string) config.Stage {
		return config.Stage{Engines: strings.Split(engine, ","), URL: url, APIKey: key}
	}
	for _, tt := range []struct {
		name          string
		path          string
		asr, llm, tts config.Stage
		want          []string
	}{
		{"embedded", speech, at("pocketsphinx", "", ""), at("scripted", "", ""), at("espeak", "", ""),
			[]string{"ok: callers who speak at the same time", "ok: built in", "ok: espeak works"}},
		{"no worker", t.TempDir(), at("pocketsphinx", "", ""), at("scripted", "", ""), at("espeak", "", ""),
			[]string{"fail: pocketsphinx", "ok: built in", "fail: espeak"}},
		{"remote", speech, at("openai", remote.URL+"/v1", "sk_engine"), at("openai", remote.URL+"/v1", "sk_secret"), at("openai", "http://127.0.0.1:1/v1", ""),
			[]string{"ok: openai works", "fail: refuses the key", "fail: refused"}},
		{"one stands in", speech, at("pocketsphinx,openai", "http://127.0.0.1:1/v1", ""), config.Stage{}, config.Stage{},
			[]string{"ok: pocketsphinx", "warn: openai"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("PATH", tt.path)
			got := checkEngines(t.Context(), &config.Config{ASR: tt.asr, LLM: tt.llm, TTS: tt.tts})
			if len(got) != len(tt.want) {
				t.Fatalf("%d Findings: %v", len(got), got)
			}
			for i, f := range got {
				judge(t, f, tt.want[i])
				if strings.Contains(fmt.Sprint(f), "sk_") {
					t.Errorf("shows the key: %v", f)
				}
			}
		})
	}
}

func TestDoctorEmbeddings(t *testing.T) {
	s := embedtest.New(t, embedtest.Script{})
	for _, tt := range []struct{ url, key, model, want string }{
		{s.URL + "/v1", s.Key, "", "ok: text-embedding-3-small works, with 1536 numbers a vector"},
		{s.URL + "/v1", s.Key, "gpt-4o", "warn: model_not_found"},
		{s.URL + "/v1", "sk_secret", "", "warn: status 401 invalid_api_key"},
		{"http://127.0.0.1:1/v1", "sk_secret", "", "warn: no connection"},
		{s.URL + "/v1", "sk secret", "", "warn: the API key holds a space"},
	} {
		f := checkEmbeddings(t.Context(), &config.Config{EmbeddingsURL: tt.url, EmbeddingsAPIKey: tt.key, EmbeddingsModel: tt.model})
		judge(t, f, tt.want)
		if strings.Contains(fmt.Sprint(f), "secret") {
			t.Errorf("shows the key: %v", f)
		}
	}
}

func TestDoctorFFmpeg(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, "ffmpeg"), []byte("#!/bin/sh\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	judge(t, FFmpeg(t.Context()), "warn: not installed")
	write("echo ffmpeg version 7.0 Copyright")
	judge(t, FFmpeg(t.Context()), "ok: ffmpeg version 7.0")
	write("exit 1")
	judge(t, FFmpeg(t.Context()), "warn: does not run")
}

func TestDoctorDatabase(t *testing.T) {
	cfg := &config.Config{DatabaseURL: "postgres://parley:hunter2@127.0.0.1:1/parley"}
	f, drift := checkDatabase(t.Context(), cfg, t.TempDir())
	judge(t, f, "fail: ")
	if drift != nil || strings.Contains(fmt.Sprint(f), "hunter2") {
		t.Errorf("%v %v", f, drift)
	}
	for want, f := range map[string]Finding{
		"ok: of its own":        checkCluster(nil),
		"fail: not installed":   checkCluster(fmt.Errorf("%w: apt", private.ErrNotInstalled)),
		"fail: cannot reach":    checkCluster(private.ErrUnreachable),
		"fail: under this":      checkCluster(private.ErrAccount),
		"fail: another version": checkCluster(private.ErrVersion),
		"ok: PostgreSQL 15.18":  checkVersion(150_018),
		"fail: PostgreSQL 13 i": checkVersion(130_022),
	} {
		judge(t, f, want)
	}
}

func TestDoctorClock(t *testing.T) {
	now, second := time.Now(), time.Second
	apart := func(d time.Duration) *time.Duration { return &d }
	for _, tt := range []struct {
		now   time.Time
		wall  time.Duration
		drift *time.Duration
		want  string
	}{
		{now, second, apart(30 * time.Millisecond), "ok: 30ms away"},
		{now, second + 20*time.Millisecond, apart(-second), "ok: away"},
		{now, second, nil, "ok: not asked"},
		{now, second, apart(3 * second), "warn: 3s away"},
		{now, second, apart(-3 * second), "warn: -3s away"},
		{now, 61 * second, nil, "warn: set by 1m0s"},
		{now, -59 * second, nil, "warn: set by -1m0s"},
		{time.Unix(11, 0), second, nil, "fail: it says 1970"},
	} {
		judge(t, checkClock(tt.now, tt.wall, second, tt.drift), tt.want)
	}
}

func TestDoctorFiles(t *testing.T) {
	for _, tt := range []struct {
		limit uint64
		calls int
		want  string
	}{
		{65_536, 0, "ok: enough for 1000 calls"}, {1_024, 0, "warn: 1024 are allowed, 1000 calls at once want 4500"},
		{1_024, 100, "ok: 100 calls"}, {4_499, 1_000, "warn: "}, {4_500, 1_000, "ok: "}, {20_000, 10_000, "warn: "},
	} {
		judge(t, checkFiles(tt.limit, tt.calls), tt.want)
	}
	if openFiles() == 0 {
		t.Error("the limit is not known")
	}
}

// asNobody runs f as a user whom file modes concern: not as root.
func asNobody(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if os.Geteuid() == 0 {
			runtime.LockOSThread() // for good: the thread, whose user this is, ends with the goroutine
			const nobody, keep = 65534, ^uintptr(0)
			_, _, _ = unix.RawSyscall(unix.SYS_SETRESUID, keep, nobody, keep) // if it fails, so does the test
		}
		f()
	}()
	<-done
}

func TestDoctorDataDir(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	judge(t, checkDataDir(file), "fail: not a directory")
	judge(t, checkDataDir(filepath.Join(file, "data")), "fail: not a directory")
	shut, err := os.MkdirTemp("", "parley-doctor-") // others do not reach a test's own directory
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(shut) })
	if err := os.Chmod(shut, 0o555); err != nil {
		t.Fatal(err)
	}
	closed := filepath.Join(shut, "data")
	asNobody(func() { judge(t, checkDataDir(closed), "fail: cannot be written") })
	missing := filepath.Join(dir, "a", "b")
	if f := checkDataDir(missing); f.Status == Broken {
		t.Errorf("%+v", f)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("the doctor has changed something: %v", entries)
	}
	for free, want := range map[uint64]string{wantFree: "ok: 2 GB left", wantFree - 1: "warn: 2047 MB left", needFree - 1: "fail: 199 MB left"} {
		judge(t, checkSpace(dir, free), want)
	}
}

func TestDoctorRateCard(t *testing.T) {
	card := filepath.Join(t.TempDir(), "card.yaml")
	judge(t, checkRateCard(&config.Config{}), "ok: built in")
	judge(t, checkRateCard(&config.Config{RateCard: card}), "fail: no such file")
	if err := os.WriteFile(card, []byte("version: yesterday\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	judge(t, checkRateCard(&config.Config{RateCard: card}), "fail: card.yaml")
	text, err := os.ReadFile("../../../billing/ratecard.yaml")
	if err == nil {
		err = os.WriteFile(card, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	judge(t, checkRateCard(&config.Config{RateCard: card}), "ok: "+card)
}

func TestDoctorSettings(t *testing.T) {
	judge(t, Settings(nil, nil), "ok: all are valid")
	judge(t, Settings([]string{"PARLEY_HTP_ADDR is not a setting"}, nil), "warn: PARLEY_HTP_ADDR")
	judge(t, Settings(nil, errors.New("PARLEY_LOG: loud is not allowed")), "fail: PARLEY_LOG")
}

// A trunk whose calls are taken for their source alone is worth a warning.
func TestDoctorSources(t *testing.T) {
	from := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	shown := dialog.Credentials{Username: "exchange", Password: "x"}
	for _, tt := range []struct {
		name string
		cfg  config.Config
		want string
	}{
		{"none", config.Config{}, "ok: no call"},
		{"outgoing only", config.Config{Trunks: []trunk.Config{{Name: "a"}}}, "ok: no call"},
		{"credentials", config.Config{Trunks: []trunk.Config{{Name: "a", Allow: from, Inbound: shown}}}, "ok: no call"},
		{"source alone", config.Config{Trunks: []trunk.Config{{Name: "a", Allow: from}}}, "warn: trunk a"},
		{"without a trunk", config.Config{SIPAllow: from}, "warn: PARLEY_SIP_ALLOW"},
	} {
		t.Run(tt.name, func(t *testing.T) { judge(t, checkSources(&tt.cfg), tt.want) })
	}
}

// Keys of SRTP that are sent in the clear encrypt nothing.
func TestDoctorKeys(t *testing.T) {
	udp, tls := trunk.Target{Host: "192.0.2.1", Transport: "udp"}, trunk.Target{Host: "192.0.2.1", Transport: "tls"}
	for _, tt := range []struct {
		name    string
		srtp    sdp.Policy
		targets []trunk.Target
		want    string
	}{
		{"off", sdp.SRTPOff, []trunk.Target{udp}, "ok: no keys"},
		{"required over TLS", sdp.SRTPRequired, []trunk.Target{tls}, "ok: no keys"},
		{"required over UDP", sdp.SRTPRequired, []trunk.Target{tls, udp}, "warn: trunk a"},
		{"offered over UDP", sdp.SRTPOffered, []trunk.Target{udp}, "warn: trunk a"},
		{"by a handshake over UDP", sdp.SRTPHandshake, []trunk.Target{udp}, "ok: no keys"},
		{"offered over TLS", sdp.SRTPOffered, []trunk.Target{tls}, "ok: trunk a: calls are encrypted only"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			judge(t, checkKeys(&config.Config{Trunks: []trunk.Config{{Name: "a", SRTP: tt.srtp, Targets: tt.targets}}}), tt.want)
		})
	}
	judge(t, checkKeys(&config.Config{Trunks: []trunk.Config{{Name: "a", SRTP: sdp.SRTPRequired, Targets: []trunk.Target{udp}, Proxy: tls}}}), "ok: no keys")
}

// TestDoctorRealtime: an engine that hears and speaks by itself is tried, and needs prices.
func TestDoctorRealtime(t *testing.T) {
	vendor := realtimetest.NewConversation(t, realtimetest.ConversationScript{})
	file := filepath.Join(t.TempDir(), "parley.yaml")
	for url, want := range map[string]string{vendor.URL + "/v1": "ok: live works", "http://127.0.0.1:1/v1": "fail: live"} {
		text := fmt.Sprintf("engines: [{name: live, stage: realtime, vendor: openai, url: %q, key: %q}]\n", url, vendor.Key)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, _, err := config.Load(config.Sources{File: file})
		if err != nil {
			t.Fatal(err)
		}
		judge(t, checkRateCard(cfg), "fail: no prices of realtime engines")
		got := checkEngines(t.Context(), &config.Config{Realtime: cfg.Realtime})
		if len(got) != 1 {
			t.Fatalf("%v", got)
		}
		judge(t, got[0], want)
	}
}
