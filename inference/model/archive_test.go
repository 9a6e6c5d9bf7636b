package model_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/inference/model"
	"parley/inference/model/modeltest"
)

// TestArchive takes a model from one machine to another.
func TestArchive(t *testing.T) {
	tiny := modeltest.Tiny()
	m, here := tiny.Manifest(t), newStore(t)
	if _, err := install(t.Context(), here, m, model.Directory(tiny.Dir(t))); err != nil {
		t.Fatal(err)
	}
	var packed, again bytes.Buffer
	for _, b := range []*bytes.Buffer{&packed, &again} {
		if err := here.Pack(t.Context(), find(t, here, "tiny"), b, nil); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(packed.Bytes(), again.Bytes()) {
		t.Error("the same model makes two archives")
	}
	there := newStore(t)
	a, err := model.OpenArchive(&packed)
	if err != nil {
		t.Fatal(err)
	}
	if brought, err := install(t.Context(), there, a.Manifest, a); err != nil || brought != m.Bytes() {
		t.Fatalf("%d bytes, %v", brought, err)
	}
	tiny.Check(t, find(t, there, "tiny").Dir)

	flip(t, filepath.Join(find(t, here, "tiny").Dir, "model.onnx"))
	if err := here.Pack(t.Context(), find(t, here, "tiny"), io.Discard, nil); !errors.Is(err, model.ErrDamaged) {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(find(t, here, "tiny").Dir, "model.onnx")); err != nil {
		t.Fatal(err)
	}
	if err := here.Pack(t.Context(), find(t, here, "tiny"), io.Discard, nil); err == nil {
		t.Error("a broken model is packed")
	}
}

// entry is one of an archive.
type entry struct {
	tar.Header
	content string
}

func file(name, content string) entry {
	return entry{tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(content))}, content}
}

func link(kind byte, name, to string) entry {
	return entry{tar.Header{Name: name, Typeflag: kind, Linkname: to}, ""}
}

func archive(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		err := w.WriteHeader(&e.Header)
		if err == nil {
			_, err = io.WriteString(w, e.content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestBadArchives: what is not exactly a model leaves nothing outside of its directory, and no model.
func TestBadArchives(t *testing.T) {
	tiny := modeltest.Tiny()
	manifest, weights, voice := file("manifest.yaml", tiny.YAML()), file("model.onnx", tiny.Files["model.onnx"]), file("voice/a.bin", tiny.Files["voice/a.bin"])
	wrong := file("model.onnx", strings.Repeat("x", len(tiny.Files["model.onnx"])))
	whole := archive(t, manifest, weights, voice)
	for name, packed := range map[string][]byte{
		"empty":                nil,
		"no tar":               []byte(strings.Repeat("no tar", 1000)),
		"no manifest":          archive(t, weights, voice),
		"manifest is last":     archive(t, weights, voice, manifest),
		"manifest is a link":   archive(t, link(tar.TypeSymlink, "manifest.yaml", "/etc/passwd")),
		"manifest is wrong":    archive(t, file("manifest.yaml", "id: .."), weights, voice),
		"manifest is huge":     archive(t, file("manifest.yaml", tiny.YAML()+"#"+strings.Repeat("x", 1<<20)), weights, voice),
		"lacks a file":         archive(t, manifest, weights),
		"another hash":         archive(t, manifest, wrong, voice),
		"another size":         archive(t, manifest, file("model.onnx", "x"), voice),
		"one more":             archive(t, manifest, weights, voice, file("more.bin", "x")),
		"one more before":      archive(t, manifest, file("more.bin", "x"), weights, voice),
		"twice":                archive(t, manifest, weights, weights, voice),
		"a second manifest":    archive(t, manifest, manifest, weights, voice),
		"outside":              archive(t, manifest, file("../../../outside", "x"), weights, voice),
		"outside, another way": archive(t, manifest, file("voice/../../../../outside", "x"), weights, voice),
		"absolute":             archive(t, manifest, file("/tmp/outside", "x"), weights, voice),
		"with a dot":           archive(t, manifest, file("./model.onnx", tiny.Files["model.onnx"]), voice),
		"a directory":          archive(t, manifest, entry{tar.Header{Name: "voice/", Typeflag: tar.TypeDir, Mode: 0o755}, ""}, weights, voice),
		"a link for a file":    archive(t, manifest, link(tar.TypeSymlink, "model.onnx", "/etc/passwd"), voice),
		"a hard link":          archive(t, manifest, link(tar.TypeLink, "model.onnx", "/etc/passwd"), voice),
		"a link on the way":    archive(t, manifest, weights, link(tar.TypeSymlink, "voice", "/tmp"), voice),
		"a device":             archive(t, manifest, entry{tar.Header{Name: "model.onnx", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 5}, ""}, voice),
		"cut off in a file":    whole[:len(whole)-2*512-512],
		"cut off in a head":    whole[:512*2+100],
	} {
		above := t.TempDir()
		s := &model.Store{Dir: filepath.Join(above, "data", "models")}
		a, err := model.OpenArchive(bytes.NewReader(packed))
		if err == nil {
			_, err = install(t.Context(), s, a.Manifest, a)
		}
		if err == nil {
			t.Errorf("%s: it is installed", name)
		}
		if all, err := s.List(); err != nil || len(all) > 0 && all[0].State != model.Partial {
			t.Errorf("%s: %+v, %v", name, all, err)
		}
		left, err := filepath.Glob(filepath.Join(above, "*"))
		if inData, _ := filepath.Glob(filepath.Join(above, "data", "*")); err != nil || len(left) > 1 || len(inData) > 1 {
			t.Errorf("%s: %q %q", name, left, inData)
		}
		if wrong, _ := filepath.Glob(filepath.Join(s.Dir, "tiny", "1", "model.onnx.part")); len(wrong) > 0 && !strings.Contains(name, "cut off") {
			t.Errorf("%s: %q is left", name, wrong)
		}
		// A good one makes it good.
		a, err = model.OpenArchive(bytes.NewReader(whole))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := install(t.Context(), s, a.Manifest, a); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		tiny.Check(t, find(t, s, "tiny").Dir)
	}
}

// TestDirectories: files may come from a directory, also by links, and are held to the manifest.
func TestDirectories(t *testing.T) {
	tiny := modeltest.Tiny()
	dir := tiny.Dir(t)
	if m, err := model.Directory(dir).Manifest(); m != nil || err != nil {
		t.Errorf("%+v, %v", m, err)
	}
	modeltest.Write(t, filepath.Join(dir, "manifest.yaml"), tiny.YAML())
	m, err := model.Directory(dir).Manifest()
	if err != nil {
		t.Fatal(err)
	}
	// As caches of downloads have them.
	blob := filepath.Join(t.TempDir(), "blob")
	if err := errors.Join(os.Rename(filepath.Join(dir, "model.onnx"), blob), os.Symlink(blob, filepath.Join(dir, "model.onnx"))); err != nil {
		t.Fatal(err)
	}
	s := newStore(t)
	if _, err := install(t.Context(), s, m, model.Directory(dir)); err != nil {
		t.Fatal(err)
	}
	tiny.Check(t, find(t, s, "tiny").Dir)

	for _, harm := range []func() error{
		func() error { flip(t, blob); return nil },
		func() error { return os.Truncate(blob, 5) },
		func() error { return os.Remove(blob) },
		func() error { return os.Mkdir(blob, 0o755) },
		func() error { return os.RemoveAll(dir) },
	} {
		if err := harm(); err != nil {
			t.Fatal(err)
		}
		s := newStore(t)
		if _, err := install(t.Context(), s, m, model.Directory(dir)); err == nil {
			t.Error("it is installed")
		}
		if got := states(t, s); len(got) != 1 || got[0] != "tiny@1 partial" {
			t.Errorf("%q", got)
		}
	}
}
