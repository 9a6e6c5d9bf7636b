package docs

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"parley/api/trunks/preset"
)

// picture is a picture of a page.
var picture = regexp.MustCompile(`(?s)<svg.*?</svg>`)

// TestPagesOfPresets: each page says what the preset has, and draws a picture that programs which read pages aloud understand,
// whose colours are the page's.
func TestPagesOfPresets(t *testing.T) {
	_, h := serverWith(Options{Telephone: preset.Server{Host: "voice.example.com", Port: 5070, TLSPort: 5071}})
	for _, p := range preset.All() {
		page := get(h, p.Page).Body.String()
		wants := []string{p.Title, "--preset " + p.Name, "parley trunk create"}
		for _, s := range p.Sources {
			wants = append(wants, s.URL)
		}
		for _, n := range p.Needs {
			wants = append(wants, strings.Fields(options[n])[0], "<code>"+n+"</code>")
		}
		for _, want := range wants {
			if !strings.Contains(page, want) {
				t.Errorf("the page of %s lacks %s", p.Name, want)
			}
		}
		svg := picture.FindString(page)
		if wrong := malformed(svg); wrong != nil || !strings.Contains(svg, `role="img" aria-labelledby="flow-`+p.Name) || !strings.Contains(svg, "<desc") {
			t.Errorf("the picture of %s: %v", p.Name, wrong)
		}
		if strings.Contains(svg, "style=") || strings.Contains(svg, "#") || strings.Contains(svg, "<script") {
			t.Errorf("the picture of %s has colours or scripts of its own", p.Name)
		}
		for _, part := range preset.Flow(&p) {
			for _, a := range part.Arrows {
				if !strings.Contains(svg, ">"+a.Text+"</text>") || !strings.Contains(svg, a.Text+" from ") {
					t.Errorf("the picture of %s lacks %s", p.Name, a.Text)
				}
			}
		}
	}
	_, unconfigured := server()
	if page := get(unconfigured, "/docs/trunks/vonage").Body.String(); !strings.Contains(page, "the URI example.com:5060") {
		t.Error("a page does not say how the browser reached the server")
	}
	for at, want := range map[string]string{"asterisk": "SIP Server: voice.example.com, SIP Server Port: 5070", "teams": "SIP signaling port 5071", "kamailio": "<b>Tried.</b>"} {
		if page := get(h, "/docs/trunks/"+at).Body.String(); !strings.Contains(page, want) {
			t.Errorf("the page of %s lacks %q", at, want)
		}
	}
}

// malformed is what is wrong with XML; nil: nothing.
func malformed(text string) error {
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
