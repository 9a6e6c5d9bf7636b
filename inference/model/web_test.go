package model_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/inference/model"
	"parley/inference/model/modeltest"
)

// web is patient: only a hang ends by it.
var web = &model.Web{Stall: 30 * time.Second}

func newStore(t *testing.T, catalogue ...*model.Manifest) *model.Store {
	return &model.Store{Dir: t.TempDir(), Catalogue: catalogue}
}

// install brings a model whose licence nobody accepts.
func install(ctx context.Context, s *model.Store, m *model.Manifest, from model.Source) (int64, error) {
	return s.Install(ctx, model.Request{Manifest: m, From: from, Accept: func() (string, error) { return "", model.ErrLicence }})
}

// find is a model as the store has it.
func find(t *testing.T, s *model.Store, ref string) *model.Model {
	t.Helper()
	m, err := s.Find(ref)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// one is a model with one file.
func one(content string, bases ...string) modeltest.Model {
	m := modeltest.Tiny(bases...)
	m.Files = map[string]string{"model.onnx": content}
	return m
}

const weights = "sixty-five bytes of weights, each of which is counted by somebody"

func TestDownload(t *testing.T) {
	tiny := modeltest.Tiny()
	host := modeltest.NewHost(t, tiny.Files)
	tiny.Bases = []string{host.URL}
	m, s := tiny.Manifest(t), newStore(t)
	var shown []string
	brought, err := s.Install(t.Context(), model.Request{Manifest: m, From: web, Show: func(step string, done, all int64) {
		if done == all {
			shown = append(shown, step)
		}
	}})
	if err != nil || brought != m.Bytes() || len(shown) == 0 || shown[len(shown)-1] != "fetching" {
		t.Fatalf("%d bytes, %v, %q", brought, err, shown)
	}
	there := find(t, s, "tiny")
	if there.State != model.Installed || there.Have != m.Bytes() {
		t.Errorf("%+v", there)
	}
	tiny.Check(t, there.Dir)
	for _, r := range host.Asked() {
		if r.Range != "" || r.Encodings != "" {
			t.Errorf("%+v", r)
		}
	}
	if brought, err := install(t.Context(), s, m, web); brought != 0 || err != nil || len(host.Asked()) != 0 {
		t.Errorf("again: %d bytes, %v", brought, err)
	}
}

// TestCutAtEachByte: wherever the connection ends, the next try goes on from there.
func TestCutAtEachByte(t *testing.T) {
	host := modeltest.NewHost(t, one(weights).Files)
	tiny := one(weights, host.URL)
	cuts := []int{0, 1, 12, 40, 80}
	for left := 1; left <= len(weights); left++ {
		cuts = append(cuts, -left)
	}
	for _, cut := range cuts {
		host.Next(modeltest.Cut(cut))
		s := newStore(t)
		if _, err := install(t.Context(), s, tiny.Manifest(t), web); err != nil {
			t.Fatalf("%d: %v", cut, err)
		}
		tiny.Check(t, find(t, s, "tiny").Dir)
		asked := host.Asked()
		want := ""
		if have := len(weights) + cut; cut < 0 && have > 0 {
			want = fmt.Sprintf("bytes=%d-", have)
		}
		if last := asked[len(asked)-1]; len(asked) != 2 || last.Range != want || (last.IfRange == "") != (want == "") {
			t.Errorf("%d: %+v, want %s", cut, asked, want)
		}
	}
}

// TestBadServers: what a server does wrong costs a try, or the address, and never lets a wrong file through.
func TestBadServers(t *testing.T) {
	other := strings.Repeat("x", len(weights))
	cut, again := modeltest.Cut(-20), func(f modeltest.Fault) []modeltest.Fault { return []modeltest.Fault{f, f, f} }
	for name, tt := range map[string]struct {
		faults []modeltest.Fault
		asked  int
		err    string // empty: it is installed
	}{
		"ignores ranges":          {[]modeltest.Fault{cut, modeltest.Without("Range")}, 2, ""},
		"knows no such range":     {[]modeltest.Fault{cut, modeltest.Status(416)}, 3, ""},
		"cuts each time":          {again(cut), 3, "unexpected EOF"},
		"cuts the head":           {again(modeltest.Cut(5)), 3, "malformed"},
		"closes":                  {again(modeltest.Cut(0)), 3, "EOF"},
		"has a fault for a while": {[]modeltest.Fault{modeltest.Status(500), modeltest.Status(503)}, 3, ""},
		"has a fault":             {again(modeltest.Status(500)), 3, "answers 500 Internal Server Error"},
		"is asked too often":      {[]modeltest.Fault{modeltest.Status(429)}, 2, ""},
		"has nothing":             {[]modeltest.Fault{modeltest.Status(404)}, 1, "answers 404 Not Found"},
		"answers nothing":         {[]modeltest.Fault{modeltest.Status(204)}, 1, "answers 204"},
		"has another file":        {[]modeltest.Fault{modeltest.Body(other)}, 1, "its SHA-256 is another"},
		"has a longer file":       {[]modeltest.Fault{modeltest.Body(weights + "x")}, 1, "more than 65 bytes"},
		"has a shorter file":      {again(modeltest.Body(weights[:9])), 3, "unexpected EOF"},
		"says that it is shorter": {[]modeltest.Fault{func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) { w.Write([]byte("short")) }}, 1, "5 bytes, not 65"},
		"sends the wrong rest":    {[]modeltest.Fault{cut, rest(weights[:45] + other[45:])}, 3, ""},
		"sends another part":      {[]modeltest.Fault{cut, part("bytes 44-64/65")}, 3, ""},
		"has a part of another":   {[]modeltest.Fault{cut, part("bytes 45-64/66")}, 3, ""},
		"has moved":               {[]modeltest.Fault{modeltest.Redirect("/model.onnx?at=another")}, 2, ""},
		"has moved out of reach":  {again(modeltest.Redirect("http://127.0.0.1:1/?signature=secret")), 3, "connect"},
	} {
		t.Run(name, func(t *testing.T) {
			host := modeltest.NewHost(t, one(weights).Files)
			host.Next(tt.faults...)
			tiny, s := one(weights, host.URL), newStore(t)
			_, err := install(t.Context(), s, tiny.Manifest(t), web)
			if (err == nil) != (tt.err == "") || err != nil && (!strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "secret")) {
				t.Errorf("%v, want %q", err, tt.err)
			}
			if asked := host.Asked(); len(asked) != tt.asked {
				t.Errorf("%d requests: %+v", len(asked), asked)
			}
			if there := find(t, s, "tiny"); err == nil {
				tiny.Check(t, there.Dir)
			} else if there.State != model.Partial {
				t.Errorf("%s", there.State)
			}
			// Whatever was, it is made good by the next attempt.
			if _, err := install(t.Context(), s, tiny.Manifest(t), web); err != nil {
				t.Error(err)
			}
			tiny.Check(t, find(t, s, "tiny").Dir)
		})
	}
}

// rest answers a request for a part with that of another content, whatever If-Range says.
func rest(content string) modeltest.Fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
		r.Header.Del("If-Range")
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(content))
	}
}

// part answers with a part that was not asked for.
func part(contentRange string) modeltest.Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
		w.Header().Set("Content-Range", contentRange)
		w.WriteHeader(http.StatusPartialContent)
		w.Write([]byte(weights[45:]))
	}
}

// TestOtherVersionAtTheServer: what was begun is not joined with another version.
func TestOtherVersionAtTheServer(t *testing.T) {
	old := strings.ToUpper(weights)
	host := modeltest.NewHost(t, one(old).Files)
	tiny, s := one(weights, host.URL), newStore(t)
	change := func(w http.ResponseWriter, r *http.Request, well http.HandlerFunc) {
		host.Put("model.onnx", weights)
		modeltest.Cut(-20)(w, r, well) // of the old one
	}
	host.Next(change)
	if _, err := install(t.Context(), s, tiny.Manifest(t), web); err != nil {
		t.Fatal(err)
	}
	tiny.Check(t, find(t, s, "tiny").Dir)
	if asked := host.Asked(); len(asked) != 2 || asked[1].Range != "bytes=45-" || asked[1].IfRange == "" {
		t.Errorf("%+v", asked)
	}
}

func TestAddressesAreTriedInOrder(t *testing.T) {
	bad, good := modeltest.NewHost(t, nil), modeltest.NewHost(t, one(weights).Files)
	tiny := one(weights, bad.URL, good.URL)
	s := newStore(t)
	if _, err := install(t.Context(), s, tiny.Manifest(t), web); err != nil {
		t.Fatal(err)
	}
	if len(bad.Asked()) != 1 || len(good.Asked()) != 1 {
		t.Error("the first is asked first")
	}
	// A mirror takes the place of all.
	mirror := modeltest.NewHost(t, map[string]string{"models/tiny/1/model.onnx": weights})
	s = newStore(t)
	if _, err := install(t.Context(), s, one(weights, bad.URL).Manifest(t), &model.Web{Mirror: mirror.URL + "/models", Stall: time.Minute}); err != nil {
		t.Fatal(err)
	}
	if len(bad.Asked()) != 0 {
		t.Error("the mirror is not enough")
	}
	if _, err := install(t.Context(), newStore(t), one(weights).Manifest(t), web); err == nil || !strings.Contains(err.Error(), "no address") {
		t.Error(err)
	}
}

// TestSilentServer: a server that sends nothing more is left, and what it sent is kept.
func TestSilentServer(t *testing.T) {
	host := modeltest.NewHost(t, one(weights).Files)
	reached := make(chan struct{}, 3)
	host.Next(modeltest.Hold(20, reached, nil), modeltest.Hold(10, reached, nil), modeltest.Hold(5, reached, nil))
	tiny, s := one(weights, host.URL), newStore(t)
	_, err := install(t.Context(), s, tiny.Manifest(t), &model.Web{Stall: 500 * time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), "silent") {
		t.Fatal(err)
	}
	if m := find(t, s, "tiny"); m.State != model.Partial || m.Have == 0 {
		t.Errorf("%s, %d bytes", m.State, m.Have)
	}
	host.Asked()
	if _, err := install(t.Context(), s, tiny.Manifest(t), web); err != nil {
		t.Fatal(err)
	}
	if asked := host.Asked(); len(asked) != 1 || asked[0].Range == "" || asked[0].IfRange == "" {
		t.Errorf("%+v", asked)
	}
}

// TestInterrupted: a command that ends leaves what the next goes on with.
func TestInterrupted(t *testing.T) {
	host := modeltest.NewHost(t, one(weights).Files)
	reached := make(chan struct{}, 1)
	host.Next(modeltest.Hold(20, reached, nil))
	tiny, s := one(weights, host.URL), newStore(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	pressed := errors.New("Ctrl-C")
	var had int64
	_, err := s.Install(ctx, model.Request{Manifest: tiny.Manifest(t), From: web, Show: func(step string, done, _ int64) {
		if step == "fetching" && done == 45 {
			had = done
			cancel(pressed)
		}
	}})
	if !errors.Is(err, pressed) || had != 45 {
		t.Fatalf("%v, %d bytes", err, had)
	}
	if m := find(t, s, "tiny"); m.State != model.Partial || m.Have != 45 {
		t.Errorf("%s, %d bytes", m.State, m.Have)
	}
	brought, err := install(t.Context(), s, tiny.Manifest(t), web)
	if err != nil || brought != 20 {
		t.Fatalf("%d bytes, %v", brought, err)
	}
	if asked := host.Asked(); len(asked) != 2 || asked[1].Range != "bytes=45-" {
		t.Errorf("%+v", asked)
	}
}

// TestWhatWasLeft: what an earlier attempt left may be anything.
func TestWhatWasLeft(t *testing.T) {
	for left, ranges := range map[string][]string{
		"":                                {""},
		weights:                           nil,
		weights[:9]:                       {"bytes=9-"},
		"wrong":                           {"bytes=5-", ""},
		strings.ToUpper(weights):          {""},
		weights + "and one byte too many": {""},
	} {
		host := modeltest.NewHost(t, one(weights).Files)
		tiny, s := one(weights, host.URL), newStore(t)
		modeltest.Write(t, filepath.Join(s.Dir, "tiny", "1", "model.onnx.part"), left)
		if _, err := install(t.Context(), s, tiny.Manifest(t), web); err != nil {
			t.Errorf("%q: %v", left, err)
		}
		tiny.Check(t, find(t, s, "tiny").Dir)
		var got []string
		for _, r := range host.Asked() {
			got = append(got, r.Range)
		}
		if !slices.Equal(got, ranges) {
			t.Errorf("%q: asked for %q, want %q", left, got, ranges)
		}
	}
}

// TestTwoAtOnce: the second does not wait, and does no harm.
func TestTwoAtOnce(t *testing.T) {
	host := modeltest.NewHost(t, one(weights).Files)
	reached, release := make(chan struct{}, 1), make(chan struct{})
	host.Next(modeltest.Hold(20, reached, release))
	tiny, s := one(weights, host.URL), newStore(t)
	first := make(chan error, 1)
	go func() {
		_, err := install(t.Context(), s, tiny.Manifest(t), web)
		first <- err
	}()
	<-reached
	if _, err := install(t.Context(), s, tiny.Manifest(t), web); !errors.Is(err, model.ErrBusy) {
		t.Error(err)
	}
	if err := s.Remove(find(t, s, "tiny")); !errors.Is(err, model.ErrBusy) {
		t.Error(err)
	}
	close(release)
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	tiny.Check(t, find(t, s, "tiny").Dir)
	if len(host.Asked()) != 1 {
		t.Error("the second asked, too")
	}
}

func TestDiskIsFull(t *testing.T) {
	host := modeltest.NewHost(t, one(weights).Files)
	tiny, s := one(weights, host.URL), newStore(t)
	s.Free = func(dir string) (int64, error) {
		if dir != s.Dir {
			t.Errorf("%s", dir)
		}
		return 1<<20 + int64(len(weights)) - 1, nil
	}
	if _, err := install(t.Context(), s, tiny.Manifest(t), web); !errors.Is(err, model.ErrSpace) || len(host.Asked()) != 0 {
		t.Error(err)
	}
	if all, err := s.List(); len(all) != 0 || err != nil {
		t.Errorf("%+v, %v", all, err)
	}
	s.Free = func(string) (int64, error) { return 1<<20 + int64(len(weights)), nil }
	if _, err := install(t.Context(), s, tiny.Manifest(t), web); err != nil {
		t.Error(err)
	}
}
