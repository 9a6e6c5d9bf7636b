package dashboard_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"parley/api/dashboard/dashboardtest"
)

// whenUsable is when the page could be used, in ms from the beginning of the navigation:
// something is shown, and its scripts have run.
const whenUsable = `new Promise((done) => {
	const look = () => {
		const [n] = performance.getEntriesByType("navigation"), [shown] = performance.getEntriesByName("first-contentful-paint");
		if (n.loadEventEnd && shown) done(Math.max(n.domContentLoadedEventEnd, shown.startTime));
		else setTimeout(look, 10);
	};
	look();
})`

// untilAnswered begins to wait for a key; answered is then how long the page took for it, in
// ms from the key to the next picture.
const (
	untilAnswered = `void (window.answered = new Promise((done) => addEventListener("keydown", (event) => requestAnimationFrame(() => setTimeout(() =>
	done(performance.now() - event.timeStamp))), { once: true, capture: true })))`
	answered = `window.answered`
)

// loadedBytes is what a page has loaded, compressed and with the headers of answers.
const loadedBytes = `[...performance.getEntriesByType("resource"), ...performance.getEntriesByType("navigation")].reduce((n, e) => n + e.transferSize, 0)`

// BenchmarkPages opens each page in a browser that knows nothing of it yet: how long until it
// can be used, how long it takes for the first key, and what it has loaded, compressed.
func BenchmarkPages(b *testing.B) {
	w := newWorld(b)
	for _, p := range tour {
		b.Run(strings.NewReplacer("/app/", "", "{$}", "home").Replace(p.route), func(b *testing.B) {
			var usable, key []float64
			var weight int
			for b.Loop() {
				tab := dashboardtest.Open(b, w.URL, denied...)
				tab.Allow("status of 404")
				if !p.out {
					w.SignInTab(tab, w.User)
				}
				tab.Go(w.at(p.path))
				usable = append(usable, dashboardtest.Eval[float64](tab, whenUsable))
				weight = max(weight, dashboardtest.Eval[int](tab, loadedBytes))
				dashboardtest.Eval[any](tab, untilAnswered)
				tab.Press(kb.Tab)
				key = append(key, dashboardtest.Eval[float64](tab, answered))
			}
			b.ReportMetric(median(usable), "usable-ms")
			b.ReportMetric(median(key), "key-ms")
			b.ReportMetric(math.Ceil(float64(weight)/1000), "kB")
		})
	}
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}
