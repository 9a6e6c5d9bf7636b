package acceptance

import (
	"os"
	"testing"

	"parley/api/dashboard/dashboardtest"
)

// widths are of a phone, a tablet, a small window and a large one, in CSS pixels.
var widths = []int64{390, 768, 1024, 1440}

// TestDocumentation has axe look at each page of the documentation, in both themes, and nothing is wider than the screen. It is the
// short form of TestSoakDocumentation.
func TestDocumentation(t *testing.T) {
	t.Parallel()
	readDocumentation(t, widths[3])
}

// TestSoakDocumentation has axe look at all widths.
func TestSoakDocumentation(t *testing.T) {
	soak(t)
	readDocumentation(t, widths...)
}

func readDocumentation(t *testing.T, looks ...int64) {
	s := shared(t, demonstration)
	b := dashboardtest.Open(t, "http://"+s.addrs["http"])
	b.Go("/docs")
	pages := append(dashboardtest.Eval[[]string](b, `[...document.querySelectorAll(".side a")].map(a => a.getAttribute("href"))`), "/docs/search?q=webhook")
	if len(pages) < 20 {
		t.Fatalf("pages %q", pages)
	}
	b.Go("/docs/calls")
	b.Click(`.top a[href="/app/"]`)
	b.At("/app/sign-in")
	for _, page := range pages {
		b.Go(page)
		for _, w := range widths {
			b.Width(w)
			b.NoSidewaysScroll()
		}
		for _, w := range looks {
			b.Width(w)
			b.Accessible()
		}
		if os.Getenv("PARLEY_TEST_SCREENSHOTS") != "" {
			b.Shot("docs" + page)
		}
	}
}
