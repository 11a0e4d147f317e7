package main

func Example() {
	main()
	// Output:
	// request 0 allowed: true
	// request 1 allowed: true
	// request 2 allowed: true
	// request 3 allowed: false
	// request 4 allowed: false
}
