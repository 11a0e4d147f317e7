package sluice_test

import (
	"context"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// at reads an instant with its offset.
func at(t *testing.T, text string) time.Time {
	t.Helper()
	got, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestCalendarWindows: a request at one instant counts until exactly another.
func TestCalendarWindows(t *testing.T) {
	for _, c := range []struct{ name, limit, from, until string }{
		{"a day", "1/d zone=UTC", "2025-03-10T15:00:00Z", "2025-03-11T00:00:00Z"},
		{"a day from its first instant", "1/d zone=UTC", "2025-03-10T00:00:00Z", "2025-03-11T00:00:00Z"},
		{"a day of the zone", "1/d zone=Asia/Tokyo", "2025-03-10T15:00:00Z", "2025-03-11T15:00:00Z"},
		{"23 hours in spring", "1/d zone=Europe/Berlin", "2025-03-30T00:00:00+01:00", "2025-03-31T00:00:00+02:00"},
		{"25 hours in autumn", "1/d zone=Europe/Berlin", "2025-10-26T00:00:00+02:00", "2025-10-27T00:00:00+01:00"},
		{"until a day without midnight", "1/d zone=America/Havana", "2024-03-09T12:00:00-05:00", "2024-03-10T01:00:00-04:00"},
		{"a day without midnight", "1/d zone=America/Havana", "2024-03-10T01:00:00-04:00", "2024-03-11T00:00:00-04:00"},
		{"until a day with two midnights", "1/d zone=America/Havana", "2024-11-02T12:00:00-04:00", "2024-11-03T00:00:00-04:00"},
		{"a day with two midnights", "1/d zone=America/Havana", "2024-11-03T00:00:00-04:00", "2024-11-04T00:00:00-05:00"},
		{"a day that was left out", "1/d zone=Pacific/Apia", "2011-12-29T12:00:00-10:00", "2011-12-31T00:00:00+14:00"},
		{"a week from Wednesday", "1/w zone=UTC", "2025-03-12T15:00:00Z", "2025-03-17T00:00:00Z"},
		{"a week from its first instant", "1/w zone=UTC", "2025-03-10T00:00:00Z", "2025-03-17T00:00:00Z"},
		{"a week on Sunday", "1/w zone=UTC", "2025-03-16T23:59:59Z", "2025-03-17T00:00:00Z"},
		{"a week of the zone, in spring", "1/week zone=Europe/Berlin", "2025-03-24T00:00:00+01:00", "2025-03-31T00:00:00+02:00"},
		{"a week over New Year", "1/w zone=UTC", "2025-12-31T12:00:00Z", "2026-01-05T00:00:00Z"},
		{"a year", "1/y", "2025-03-10T15:00:00Z", "2026-01-01T00:00:00Z"},
		{"a leap year", "1/year", "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"},
		{"a year of the zone", "1/y zone=Asia/Tokyo", "2025-12-31T14:59:59Z", "2025-12-31T15:00:00Z"},
		{"a month", "1/mo", "2025-01-31T23:59:59Z", "2025-02-01T00:00:00Z"},
		{"February", "1/mo", "2025-02-01T00:00:00Z", "2025-03-01T00:00:00Z"},
		{"February of a leap year", "1/mo", "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z"},
		{"December", "1/mo", "2025-12-31T00:00:00Z", "2026-01-01T00:00:00Z"},
		{"before the anchor", "1/mo anchor_day=15", "2025-01-03T00:00:00Z", "2025-01-15T00:00:00Z"},
		{"after the anchor", "1/mo anchor_day=15", "2025-01-15T00:00:00Z", "2025-02-15T00:00:00Z"},
		{"the 31st in January", "1/mo anchor_day=31", "2025-01-31T00:00:00Z", "2025-02-28T00:00:00Z"},
		{"the 31st in February", "1/mo anchor_day=31", "2025-02-28T00:00:00Z", "2025-03-31T00:00:00Z"},
		{"the 31st in a leap February", "1/mo anchor_day=31", "2024-02-28T23:00:00Z", "2024-02-29T00:00:00Z"},
		{"the 31st in April", "1/mo anchor_day=31", "2025-04-30T00:00:00Z", "2025-05-31T00:00:00Z"},
		{"a month of the zone", "1/mo zone=Europe/Berlin", "2025-03-01T00:00:00+01:00", "2025-04-01T00:00:00+02:00"},
		{"the anchor of the zone", "1/mo zone=America/New_York anchor_day=9", "2025-03-08T00:00:00-05:00", "2025-03-09T00:00:00-05:00"},
		{"an anchor without midnight", "1/mo zone=America/Havana anchor_day=10", "2024-03-09T00:00:00-05:00", "2024-03-10T01:00:00-04:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			clock := &clock{now: at(t, c.from)}
			l := sluice.NewLimiter(sluice.MustParse(c.limit), clock.option())
			until := at(t, c.until)
			d := l.Decide(1)
			if want := until.Sub(clock.Now()); !d.Allowed || d.ResetAfter() != want {
				t.Fatalf("allowed %v, resets after %v, want %v", d.Allowed, d.ResetAfter(), want)
			}
			if d := l.Decide(1); d.Allowed || d.RetryAfter() != until.Sub(clock.Now()) {
				t.Errorf("second: allowed %v, retry after %v", d.Allowed, d.RetryAfter())
			}
			clock.Set(until.Add(-time.Microsecond))
			if l.Allow() {
				t.Error("allowed a microsecond too early")
			}
			clock.Set(until)
			if !l.Allow() {
				t.Error("not allowed when the window ended")
			}
		})
	}
}

// TestCalendarGoesOn: the windows stay those of the calendar long after those
// that were laid out at first, and before them.
func TestCalendarGoesOn(t *testing.T) {
	ctx := context.Background()
	for _, text := range []string{"2/d zone=Europe/Berlin", "2/w zone=Europe/Berlin", "2/mo zone=Europe/Berlin anchor_day=31", "2/y zone=Europe/Berlin"} {
		l, clock := limiter(text)
		k := sluice.NewKeyed(sluice.MustParse(text), clock.option())
		for _, days := range []int{1, 30, 100, 366, 1000, 10, 5000, -900} {
			clock.Set(clock.Now().AddDate(0, 0, days))
			l.Reset()
			if err := k.Reset(ctx, "a"); err != nil {
				t.Fatal(err)
			}
			fresh := sluice.NewLimiter(sluice.MustParse(text), clock.option()).Decide(1)
			d := l.Decide(1)
			dk, err := k.Allow(ctx, "a")
			if d.ResetAfter() != fresh.ResetAfter() || dk.ResetAfter() != fresh.ResetAfter() || err != nil {
				t.Fatalf("%s at %v: Limiter resets after %v, Keyed %v, want %v, error %v",
					text, clock.Now(), d.ResetAfter(), dk.ResetAfter(), fresh.ResetAfter(), err)
			}
		}
	}
}

// TestSeveralCalendars: the one that is used up first counts.
func TestSeveralCalendars(t *testing.T) {
	for _, limits := range [][2]string{{"1/d zone=Europe/Berlin", "1000/mo"}, {"1000/mo", "1/d zone=Europe/Berlin"}} {
		k, clock := keyed(limits[0], limits[1])
		for _, now := range []string{"2025-03-30T00:00:00+01:00", "2025-10-26T00:00:00+02:00", "2024-10-27T00:00:00+02:00"} {
			clock.Set(at(t, now))
			hours := 25 * time.Hour
			if clock.Now().Month() == time.March {
				hours = 23 * time.Hour
			}
			if err := k.Reset(t.Context(), "ann"); err != nil {
				t.Fatal(err)
			}
			if d, err := k.Allow(t.Context(), "ann"); !d.Allowed || d.ResetAfter() != hours || err != nil {
				t.Errorf("%s: allowed %v, resets after %v, want %v: %v", now, d.Allowed, d.ResetAfter(), hours, err)
			}
		}
	}
}

// TestCalendarBoundaryIsNoChange: laying out more windows keeps what was spent.
func TestCalendarBoundaryIsNoChange(t *testing.T) {
	l, clock := limiter("10/mo")
	for month := range 200 {
		for range 10 {
			if !l.Allow() {
				t.Fatalf("month %d: denied too early", month)
			}
		}
		clock.Add(24 * time.Hour)
		if l.Allow() {
			t.Fatalf("month %d: allowed too much", month)
		}
		clock.Set(time.Date(2025, time.January+time.Month(month)+1, 1, 0, 0, 0, 0, time.UTC))
	}
}

// TestCalendarWithExplicitTimes: a time that is given lies in its own window,
// however far it is from that of the clock.
func TestCalendarWithExplicitTimes(t *testing.T) {
	l, _ := limiter("1/mo")
	for _, text := range []string{"2025-01-05T00:00:00Z", "2033-02-05T00:00:00Z", "2036-02-05T00:00:00Z"} {
		now := at(t, text)
		if !l.AllowN(now, 1) || l.AllowN(now.AddDate(0, 0, 20), 1) {
			t.Errorf("%s: not one in its month", text)
		}
	}
}

func TestCalendarChange(t *testing.T) {
	l, _ := limiter("10/mo")
	l.Decide(8)
	if err := l.SetLimit(sluice.PerMonth(5)); err != nil || l.Allow() {
		t.Errorf("a smaller quota does not bind at once: %v", err)
	}
	if err := l.SetLimit(sluice.PerMonth(20)); err != nil || l.Tokens() != 12 {
		t.Errorf("a larger quota has %v left, want 12: %v", l.Tokens(), err)
	}
	if err := l.SetLimit(sluice.PerDay(20).InZone("UTC")); err != nil || l.Tokens() != 20 {
		t.Errorf("another period has %v left, want 20: %v", l.Tokens(), err)
	}
}

// TestCalendarOfTheStore: a store with a clock of its own lays the calendar out.
func TestCalendarOfTheStore(t *testing.T) {
	now := time.Date(2015, 2, 1, 0, 0, 0, 0, time.UTC)
	s := memstore.New(memstore.WithClock(func() time.Time { return now }))
	k := sluice.NewKeyed(sluice.PerMonth(1), sluice.WithStore(s))
	if d, err := k.Allow(t.Context(), "a"); err != nil || d.ResetAfter() != 28*24*time.Hour {
		t.Errorf("February 2015 ends in %v, %v", d.ResetAfter(), err)
	}
}
