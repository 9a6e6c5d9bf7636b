package doctor

import (
	"net/http"
	"strings"
	"testing"

	"parley/cmd/parley/config"
	"parley/store/blob"
	"parley/store/blob/blobtest"
)

// TestDoctorStorage: what a server does with its store of files is tried, and nothing is left there.
func TestDoctorStorage(t *testing.T) {
	server := blobtest.Start(t)
	for name, tt := range map[string]struct {
		url, secret string
		status      int
		want        string
	}{
		"none":           {"", "", 0, "ok: off"},
		"a bucket":       {server.URL("a/prefix"), blobtest.Secret, 0, "ok: written"},
		"a folder":       {"file://" + t.TempDir() + "/parley", "", 0, "ok: written"},
		"a wrong secret": {server.URL(""), "hunter2", 0, "fail: write: the store of files cannot be used: put in bucket " + blobtest.Bucket},
		"no such bucket": {strings.Replace(server.URL(""), blobtest.Bucket, "another", 1), blobtest.Secret, 0, "fail: write"},
		"no permission":  {server.URL(""), blobtest.Secret, http.StatusForbidden, "fail: AccessDenied"},
		"nobody":         {"s3://bucket?endpoint=http://127.0.0.1:1", blobtest.Secret, 0, "fail: connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			server.Refuse(tt.status)
			defer server.Refuse(0)
			cfg := &config.Config{}
			if tt.url != "" {
				l, err := blob.Parse(tt.url)
				if err != nil {
					t.Fatal(err)
				}
				cfg.Storage, cfg.StorageAccess = &l, blob.Access{Key: blobtest.Key, Secret: tt.secret}
			}
			f := checkStorage(t.Context(), cfg)
			judge(t, f, tt.want)
			if strings.Contains(f.Detail+f.Fix, "hunter2") {
				t.Errorf("a secret is shown: %+v", f)
			}
		})
	}
	if left := server.Keys(); len(left) != 0 {
		t.Errorf("%q are left", left)
	}
}
