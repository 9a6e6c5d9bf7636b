package blob_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"parley/store/blob"
)

// serve answers on loopback for the time of a test.
func serve(t *testing.T, h http.Handler) (url string) {
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

func TestLocations(t *testing.T) {
	for s, clear := range map[string]string{
		"s3://bucket":        "",
		"s3://bucket/prefix": "",
		"s3://my.bucket/a/b?endpoint=https://minio.example:9000&region=eu-1": "",
		"s3://bucket?endpoint=http://10.0.0.7:9000":                          "10.0.0.7",
		"s3://bucket/?endpoint=http%3A%2F%2F[::1]%3A9000":                    "::1",
		"file:///srv/parley": "",
	} {
		l, err := blob.Parse(s)
		if err != nil || l.Unencrypted() != clear || l.IsBucket() != (s[0] == 's') {
			t.Errorf("%s: %+v, %v", s, l, err)
		}
		if _, err := l.Open(blob.Access{Key: "k", Secret: "s"}, "recordings"); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	for _, s := range []string{"", "bucket", "s3://", "s3://B", "s3://key:secret@bucket", "s3://bucket/../x", "s3://bucket/a//b", "s3://bucket?endpoint=minio:9000",
		"s3://bucket?endpoint=https://k:s@minio", "s3://bucket?endpoint=https://minio/path", "s3://bucket?key=x", "s3://bucket?region=a&region=b", "s3://bucket#x",
		"https://bucket.s3.amazonaws.com", "file://host/srv", "file:///", "file:srv", "/srv/parley"} {
		if l, err := blob.Parse(s); err == nil {
			t.Errorf("%q is %+v", s, l)
		}
	}
}
