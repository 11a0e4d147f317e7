(function () {
  var left = document.getElementById("left");
  var seconds = Number(left.dataset.seconds);
  if (!seconds) return;
  var end = performance.now() + seconds * 1000;
  function two(n) { return (n < 10 ? "0" : "") + n; }
  function show() {
    var s = Math.ceil((end - performance.now()) / 1000);
    if (s <= 0) {
      clearInterval(timer);
      left.textContent = "";
      if (left.dataset.reload === "yes") location.reload();
      else document.getElementById("text").textContent = "You can try again now.";
      return;
    }
    var h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60;
    left.textContent = (h ? h + ":" + two(m) : m) + ":" + two(s % 60);
  }
  var timer = setInterval(show, 250);
  show();
})();
