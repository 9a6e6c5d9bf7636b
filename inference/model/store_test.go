package model_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parley/inference/model"
	"parley/inference/model/modeltest"
)

// states lists what a store has: ID@VERSION and its state.
func states(t *testing.T, s *model.Store) (list []string) {
	t.Helper()
	all, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		list = append(list, m.Ref()+" "+string(m.State))
	}
	return list
}

// flip changes one byte of a file.
func flip(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestLifeOfAModel: absent, installed, damaged, brought again, removed.
func TestLifeOfAModel(t *testing.T) {
	tiny := modeltest.Tiny()
	host := modeltest.NewHost(t, tiny.Files)
	tiny.Bases = []string{host.URL}
	m := tiny.Manifest(t)
	s := newStore(t, append(slices.Clone(model.Catalogue()), m)...)
	if got := states(t, s); len(got) != 3 || !strings.HasSuffix(got[0], "embedded") || got[1] != "silero-vad@v5 embedded" || got[2] != "tiny@1 absent" {
		t.Errorf("%q", got)
	}
	if _, err := install(t.Context(), s, m, web); err != nil {
		t.Fatal(err)
	}
	there := find(t, s, "tiny@1")
	if damaged, err := s.Verify(t.Context(), there, nil); there.State != model.Installed || len(damaged) > 0 || err != nil {
		t.Errorf("%s, %q, %v", there.State, damaged, err)
	}
	voice := filepath.Join(there.Dir, "voice", "a.bin")
	flip(t, voice)
	if damaged, err := s.Verify(t.Context(), there, nil); !slices.Equal(damaged, []string{"voice/a.bin"}) || err != nil {
		t.Errorf("%q, %v", damaged, err)
	}
	host.Asked()
	if brought, err := install(t.Context(), s, m, web); err != nil || brought != int64(len(tiny.Files["voice/a.bin"])) {
		t.Errorf("%d bytes, %v", brought, err)
	}
	if asked := host.Asked(); len(asked) != 1 {
		t.Errorf("%+v", asked)
	}
	tiny.Check(t, there.Dir)
	for _, harm := range []func() error{
		func() error { return os.Truncate(voice, 3) },
		func() error { return os.Remove(voice) },
		func() error { return os.Mkdir(voice, 0o755) },
		func() error { return errors.Join(os.RemoveAll(voice), os.Symlink("/etc/passwd", voice)) },
	} {
		if err := harm(); err != nil {
			t.Fatal(err)
		}
		if got := find(t, s, "tiny"); got.State != model.Broken {
			t.Errorf("%s", got.State)
		}
	}
	if err := os.Remove(voice); err != nil {
		t.Fatal(err)
	}
	if _, err := install(t.Context(), s, m, web); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(find(t, s, "tiny")); err != nil {
		t.Fatal(err)
	}
	if got := states(t, s); got[2] != "tiny@1 absent" {
		t.Errorf("%q", got)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, "tiny")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its directory is left: %v", err)
	}
	for _, ref := range []string{"tiny", "gtcrn"} {
		if err := s.Remove(find(t, s, ref)); !errors.Is(err, model.ErrUnknown) {
			t.Errorf("%s: %v", ref, err)
		}
	}
}

// TestLostManifest: a directory without one, or with one that is damaged, is broken, and the catalogue makes it good.
func TestLostManifest(t *testing.T) {
	tiny := modeltest.Tiny()
	for name, harm := range map[string]func(path string) error{
		"removed":   os.Remove,
		"truncated": func(path string) error { return os.Truncate(path, 20) },
		"renamed": func(path string) error {
			return os.WriteFile(path, []byte(strings.Replace(tiny.YAML(), "tiny", "large", 1)), 0o644)
		},
	} {
		s := newStore(t)
		if _, err := install(t.Context(), s, tiny.Manifest(t), model.Directory(tiny.Dir(t))); err != nil {
			t.Fatal(err)
		}
		if err := harm(filepath.Join(s.Dir, "tiny", "1", "manifest.yaml")); err != nil {
			t.Fatal(err)
		}
		there := find(t, s, "tiny@1")
		if there.State != model.Broken {
			t.Errorf("%s: %s", name, there.State)
		}
		if _, err := install(t.Context(), s, there.Manifest, web); !errors.Is(err, model.ErrUnknown) {
			t.Errorf("%s: %v", name, err)
		}
		s.Catalogue = []*model.Manifest{tiny.Manifest(t)}
		if brought, err := install(t.Context(), s, find(t, s, "tiny").Manifest, web); brought != 0 || err != nil {
			t.Errorf("%s: %d bytes, %v", name, brought, err)
		}
		if there = find(t, s, "tiny"); there.State != model.Installed {
			t.Errorf("%s: %s", name, there.State)
		}
	}
}

// TestVersions: those of one model are there beside each other, and none replaces another's files.
func TestVersions(t *testing.T) {
	first, second := one("one"), one("two")
	second.Version = "2"
	s := newStore(t)
	for _, m := range []modeltest.Model{first, second} {
		if _, err := install(t.Context(), s, m.Manifest(t), model.Directory(m.Dir(t))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Find("tiny"); !errors.Is(err, model.ErrUnknown) || !strings.Contains(err.Error(), "tiny@1 as well as tiny@2") {
		t.Error(err)
	}
	if m := find(t, s, "tiny@2"); m.Version != "2" {
		t.Errorf("%+v", m)
	}
	s.Catalogue = []*model.Manifest{first.Manifest(t)}
	if m := find(t, s, "tiny"); m.Version != "1" {
		t.Errorf("%+v", m)
	}
	for _, ref := range []string{"", "tin", "tiny@", "tiny@3", "../tiny"} {
		if m, err := s.Find(ref); !errors.Is(err, model.ErrUnknown) {
			t.Errorf("%q: %+v, %v", ref, m, err)
		}
	}
	for _, version := range []string{"1", "2"} { // of the catalogue, and of the store
		other := one("three")
		other.Version = version
		if _, err := install(t.Context(), s, other.Manifest(t), model.Directory(other.Dir(t))); !errors.Is(err, model.ErrDiffers) {
			t.Errorf("%s: %v", version, err)
		}
	}
	first.Check(t, find(t, s, "tiny@1").Dir)
	second.Check(t, find(t, s, "tiny@2").Dir)
}

// TestLicence: it is accepted once, before anything is brought, and that is kept.
func TestLicence(t *testing.T) {
	host := modeltest.NewHost(t, one(weights).Files)
	tiny, s := one(weights, host.URL), newStore(t)
	tiny.Licence = "{name: Terms, accept: true, sha256: " + strings.Repeat("a", 64) + "}"
	m := tiny.Manifest(t)
	if _, err := install(t.Context(), s, m, web); !errors.Is(err, model.ErrLicence) || len(host.Asked()) != 0 {
		t.Fatal(err)
	}
	if got := states(t, s); len(got) != 0 {
		t.Errorf("%q", got)
	}
	host.Next(modeltest.Status(404))
	asked := 0
	accept := model.Request{Manifest: m, From: web, Accept: func() (string, error) { asked++; return "ana", nil }}
	if _, err := s.Install(t.Context(), accept); err == nil {
		t.Fatal("there is nothing to download")
	}
	for range 2 {
		if _, err := s.Install(t.Context(), accept); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(filepath.Join(s.Dir, "tiny", "1", "accepted.yaml"))
	if err != nil || asked != 1 || !strings.Contains(string(kept), "by: ana") || !strings.Contains(string(kept), m.Licence.SHA256) || !strings.Contains(string(kept), "at: 2") {
		t.Errorf("asked %d times, %v: %s", asked, err, kept)
	}
	// Another text is another licence.
	tiny.Licence = strings.ReplaceAll(tiny.Licence, "aaaa", "bbbb")
	if _, err := install(t.Context(), s, tiny.Manifest(t), web); !errors.Is(err, model.ErrLicence) {
		t.Error(err)
	}
	// The catalogue says on which terms, not what somebody hands in.
	s = newStore(t, m)
	tiny.Licence = "{name: none}"
	if _, err := install(t.Context(), s, tiny.Manifest(t), model.Directory(tiny.Dir(t))); !errors.Is(err, model.ErrLicence) {
		t.Error(err)
	}
}
