package main

// deployment shows the reference deployment: which limit stands where, and what the
// autoscaler looks at.
func deployment() *drawing {
	d := draw(424, "Four limits, one behind the other", "What is refused early costs nothing further down. Whoever is too much gets 429, and when to come back.",
		"Clients reach a gateway that limits every address; what passes goes to three to ten pods of the application, each with a limit of "+
			"its own, and through a guard to PostgreSQL. Gateways and guards share their budgets through Redis. "+
			"The autoscaler of the application looks at what the gateway lets pass.")
	const y, h = 92.0, 112.0
	for _, behind := range []float64{12, 6} { // pods behind the one that can be read
		d.rounded(360+behind, y-behind, 180, h, 8, "key")
	}
	d.block(block{28, y, 96, h, "box", "clients", []string{"ask for", "ten times", "the capacity"}})
	d.block(block{160, y, 160, h, "key", "1 · gateway", []string{"10/s per address,", "before anything", "else happens"}})
	d.block(block{360, y, 180, h, "key", "3 · application", []string{"each pod serves 40/s,", "16 at the same time,", "by a limit in process"}})
	d.block(block{592, y, 112, h, "key", "4 · guard", []string{"20 at the", "same time,", "for all pods"}})
	d.block(block{740, y, 112, h, "box", "PostgreSQL", []string{"never sees", "more than that"}})
	for _, x := range []struct{ from, to float64 }{{128, 156}, {324, 356}, {558, 588}, {708, 736}} {
		d.arrow(x.from, y+h/2, x.to, y+h/2)
	}
	const low, under = 276.0, 80.0
	d.block(block{160, low, 160, under, "box", "Redis", []string{"budgets of gateways,", "permits of guards"}})
	d.block(block{360, low, 180, under, "key", "2 · autoscaler", []string{"3 to 10 pods, by what", "the gateway lets pass"}})
	d.arrow(210, y+h+4, 210, low-4)
	d.arrow(490, low-4, 490, y+h+4)
	d.path("arrow", point{290, y + h + 4}, point{290, 240}, point{410, 240}, point{410, low - 12})
	d.arrow(410, low-13, 410, low-4)
	d.text(302, 234, "small", "load asked for")
	d.path("arrow", point{648, y + h + 4}, point{648, 384}, point{240, 384}, point{240, low + under + 12})
	d.arrow(240, low+under+13, 240, low+under+4)
	d.text(638, 376, "small end", "permits, shared by all pods")
	d.text(margin, 410, "small", "make rehearsal runs all of it on one machine, with processes in the place of pods.")
	return d
}
