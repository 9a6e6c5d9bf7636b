package metrics

import (
	"context"
	"encoding/json"
	"net"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"parley/sip"
	"parley/sip/rtpport"
)

// eventually waits for what happens by itself.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// TestRejectionsPage: whoever asks why calls do not arrive sees who was refused.
func TestRejectionsPage(t *testing.T) {
	loopback := netip.MustParseAddr("127.0.0.1")
	ports, err := rtpport.New(rtpport.Config{Addr: loopback, First: 29020, Last: 29029})
	if err != nil {
		t.Fatal(err)
	}
	defer ports.Close()
	phone, err := sip.New(sip.Config{Listen: netip.AddrPortFrom(loopback, 0), Ports: ports})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- phone.Run(ctx) }()
	defer func() { stop(); <-ended }()
	page := func() (v struct {
		Total map[string]int
		Data  []struct {
			Source, Cause string
			Count, Code   int
			First, Last   time.Time
		}
	}) {
		w := httptest.NewRecorder()
		Rejections(phone).ServeHTTP(w, httptest.NewRequest("GET", "/debug/sip/rejections", nil))
		if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil || w.Code != 200 || !strings.Contains(w.Body.String(), `"data":[`) {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		return v
	}
	if v := page(); len(v.Total) != 0 || len(v.Data) != 0 {
		t.Errorf("at first: %+v", v)
	}
	stranger, err := net.Dial("udp", phone.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	for range 2 {
		if _, err := stranger.Write([]byte("OPTIONS sip:x@127.0.0.1 SIP/2.0\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "both are counted", func() bool { return page().Total["unknown_source"] == 2 })
	if v := page(); len(v.Data) != 1 || v.Data[0].Source != "127.0.0.1" || v.Data[0].Cause != "unknown_source" || v.Data[0].Count != 2 || v.Data[0].Code != 0 ||
		v.Data[0].Last.Before(v.Data[0].First) {
		t.Errorf("afterwards: %+v", v)
	}
	w := httptest.NewRecorder()
	Rejections(nil).ServeHTTP(w, httptest.NewRequest("GET", "/debug/sip/rejections", nil))
	if w.Code != 404 {
		t.Errorf("without a telephone: %d", w.Code)
	}
}
