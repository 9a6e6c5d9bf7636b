package blob

import (
	"errors"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// Location is a place that all nodes of a cluster reach: a folder that they share, or a bucket.
type Location struct {
	dir string // of a folder; empty: it is a bucket

	endpoint string // host, with a port if need be
	secure   bool
	region   string
	bucket   string
	prefix   string // of keys, without "/" at its ends
}

// Access is what a bucket wants besides its place; a folder takes none of it. Key and Secret are
// secrets.
type Access struct {
	Key, Secret string
	// Encryption is what the store is asked to encrypt files with: "AES256", "aws:kms", or
	// "aws:kms=KEY"; empty: what the bucket is set to.
	Encryption string
}

const (
	usualEndpoint = "s3.amazonaws.com"
	usualRegion   = "us-east-1"
)

var (
	bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	keyPrefix  = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$`)
	regionName = regexp.MustCompile(`^[a-z0-9-]{1,40}$`)
)

var errLocation = errors.New("blob: s3://BUCKET/PREFIX?endpoint=https://HOST:PORT&region=REGION, or file:///DIRECTORY")

// Parse reads a location. It must hold no key: it is shown and logged.
func Parse(s string) (l Location, err error) {
	u, err := url.Parse(s)
	if err != nil || u.User != nil || u.Fragment != "" || u.Opaque != "" {
		return l, errLocation
	}
	switch u.Scheme {
	case "file":
		l.dir = u.Path
		if u.Host != "" || u.RawQuery != "" || !filepath.IsAbs(u.Path) || path.Clean(u.Path) == "/" {
			return l, errLocation
		}
		return l, nil
	case "s3":
		return parseBucket(u)
	}
	return l, errLocation
}

func parseBucket(u *url.URL) (l Location, err error) {
	query, err := url.ParseQuery(u.RawQuery)
	l = Location{bucket: u.Host, prefix: strings.Trim(u.Path, "/"), endpoint: usualEndpoint, secure: true, region: usualRegion}
	if err != nil || !bucketName.MatchString(l.bucket) || l.prefix != "" && !keyPrefix.MatchString(l.prefix) {
		return l, errLocation
	}
	for name, values := range query {
		switch {
		case len(values) != 1:
			return l, errLocation
		case name == "region" && regionName.MatchString(values[0]):
			l.region = values[0]
		case name == "endpoint":
			e, err := url.Parse(values[0])
			if err != nil || e.Scheme != "http" && e.Scheme != "https" || e.Hostname() == "" || strings.Trim(e.Path, "/") != "" || e.User != nil || e.RawQuery != "" {
				return l, errLocation
			}
			l.endpoint, l.secure = e.Host, e.Scheme == "https"
		default:
			return l, errLocation
		}
	}
	return l, nil
}

// IsBucket says whether it is a bucket, which wants Access.
func (l Location) IsBucket() bool { return l.dir == "" }

// Unencrypted is the host that files go to in the clear; empty: they do not.
func (l Location) Unencrypted() string {
	if l.dir != "" || l.secure {
		return ""
	}
	return (&url.URL{Host: l.endpoint}).Hostname()
}

// CheckEncryption says whether Access.Encryption may be s.
func CheckEncryption(s string) error {
	_, err := parseEncryption(s)
	return err
}

// Open returns the store of the files of one kind, which is a word, and asks nothing of it yet.
func (l Location) Open(a Access, kind string) (Store, error) {
	if l.dir != "" {
		return NewFolder(func() string { return filepath.Join(l.dir, kind) }), nil
	}
	return newBucket(l, a, kind)
}
