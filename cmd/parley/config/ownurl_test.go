package config

import "testing"

func TestOwnURL(t *testing.T) {
	for listening, want := range map[string]string{
		":8080": "http://127.0.0.1:8080", "0.0.0.0:1": "http://127.0.0.1:1", "[::]:8080": "http://127.0.0.1:8080",
		"192.0.2.7:80": "http://192.0.2.7:80", "[::1]:80": "http://[::1]:80", "localhost:80": "http://localhost:80", "nonsense": "",
	} {
		if got, err := OwnURL(listening, false); got != want || (err != nil) != (want == "") {
			t.Errorf("%s: %q, %v; want %q", listening, got, err, want)
		}
	}
	for secure, want := range map[bool]string{false: "http://127.0.0.1:8080", true: "https://127.0.0.1:8080"} {
		if got, err := OwnURL("[::]:8080", secure); got != want || err != nil {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
}
