package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
)

// Bounds, in bytes, far above what a page should load, and how long an answer may take.
const (
	maxTarball  = 64 << 20
	maxUnpacked = 256 << 20
	maxAbout    = 4 << 20
	patience    = 2 * time.Minute
)

// source is a registry that publishes packages as npm's does.
type source struct{ address string }

func (s *source) get(ctx context.Context, where string, most int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(s.address, "/")+"/"+where, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the registry answers %s", resp.Status)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("the answer has more than %d bytes", most)
	}
	return text, err
}

// integrity is what the registry says of a version that is not pinned yet.
func (s *source) integrity(ctx context.Context, name, version string) (string, error) {
	text, err := s.get(ctx, name+"/"+version, maxAbout)
	if err != nil {
		return "", err
	}
	var about struct{ Dist struct{ Integrity string } }
	if err := json.Unmarshal(text, &about); err != nil {
		return "", fmt.Errorf("what the registry says: %w", err)
	}
	return about.Dist.Integrity, nil
}

func (s *source) tarball(ctx context.Context, name, version string) ([]byte, error) {
	return s.get(ctx, name+"/-/"+path.Base(name)+"-"+version+".tgz", maxTarball)
}

var errIntegrity = errors.New("this is not what was published: its SHA-512 is another")

// check holds a tarball to an integrity (W3C Subresource Integrity section 3.1) that has
// a SHA-512; weaker ones beside it do not count.
func check(tarball []byte, integrity string) error {
	for one := range strings.FieldsSeq(integrity) {
		if want, ok := strings.CutPrefix(one, "sha512-"); ok {
			sum := sha512.Sum512(tarball)
			if base64.StdEncoding.EncodeToString(sum[:]) == want {
				return nil
			}
			return errIntegrity
		}
	}
	return fmt.Errorf("%q has no SHA-512", integrity)
}

// unpack returns a package's files by their paths, without the folder that all are in.
func unpack(tarball []byte) (map[string][]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(tarball))
	if err != nil {
		return nil, err
	}
	files, left := map[string][]byte{}, int64(maxUnpacked)
	for archive := tar.NewReader(z); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if left -= h.Size; left < 0 {
			return nil, fmt.Errorf("it has more than %d bytes of files", maxUnpacked)
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			return nil, err
		}
		_, inside, _ := strings.Cut(path.Clean(h.Name), "/")
		files[inside] = text
	}
}

// pick finds the file that is kept as name: one of that name, wherever it is, the nearest
// to the top; else one of what follows the first dot, as LICENSE for htmx.LICENSE.
func pick(files map[string][]byte, name string) ([]byte, error) {
	_, rest, _ := strings.Cut(name, ".")
	for _, wanted := range []string{name, rest} {
		var found []string
		for p := range files {
			if wanted != "" && path.Base(p) == wanted {
				found = append(found, p)
			}
		}
		slices.SortFunc(found, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
		switch {
		case len(found) > 1 && strings.Count(found[0], "/") == strings.Count(found[1], "/"):
			slices.Sort(found)
			return nil, fmt.Errorf("there are several of %s: %s", wanted, strings.Join(found, ", "))
		case len(found) > 0:
			return files[found[0]], nil
		}
	}
	return nil, fmt.Errorf("there is no %s in it", name)
}
