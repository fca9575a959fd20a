import re

from markupsafe import Markup

from selfdiag.report.html_page import figure, from_markdown, html_page, html_table


def test_a_page_is_whole_and_may_load_nothing() -> None:
    page = html_page("a title", Markup("<p>body</p>"), lead="what it is")
    assert page.startswith("<!doctype html>\n<html lang=") and page.endswith("</html>\n")
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert policy[1] == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    for part in ('<meta charset="utf-8">', 'name="viewport"', 'content="light dark"', "<p>body</p>", "what it is"):
        assert part in page
    assert "url(" not in page and "@import" not in page and "<link" not in page


def test_title_and_lead_are_text() -> None:
    page = html_page('</title><script>a\x1b[2J"', Markup(""), lead="<b>")
    assert "<script" not in page and "\x1b" not in page and "<b>" not in page
    assert page.count("&lt;/title&gt;&lt;script&gt;a\\x1b[2J") == 2


def test_markdown_brings_no_tag_no_image_and_no_foreign_link() -> None:
    made = from_markdown(
        "<script>a</script> <b>b</b> ![i](http://a.example/b.png) [j](javascript:alert(1)) [d](data:text/html,x) "
        "[f](file:///etc) <javascript:alert(1)> [w](https://a.example/)\n\n<div>\n\nline  \nbreak"
    )
    assert re.findall(r"<(\w+)", made) == ["p", "a", "a", "p", "p", "br"]
    assert re.findall(r'(?:href|src)="([^"]*)"', made) == ["http://a.example/b.png", "https://a.example/"]
    assert "&lt;script&gt;" in made and "[j](javascript:alert(1))" in made


def test_a_table_scrolls_and_its_numbers_stand_to_the_right() -> None:
    text = "| a | b | c |\n|---|---|---|\n| x | 12 % | +.10 [-.20, +.30] |\n| 3 \\| y | – | 4 of 5 |"
    read = from_markdown(text)
    assert read.startswith('<div class="scroll" tabindex="0"><table>') and "</table></div>" in read
    assert '<th class="num">b</th>' in read and '<td class="num">+.10 [-.20, +.30]</td>' in read
    assert "<td>x</td>" in read and "<td>3 | y</td>" in read and '<td class="num">–</td>' in read
    made = html_table(("a", "b", "c"), [("<x>", "12 %", ""), ("3", "–", "")])
    assert "<td>&lt;x&gt;</td>" in made and '<td class="num">12 %</td>' in made
    assert '<th scope="col">c</th>' in made, "a column of nothing holds no numbers"


def test_markup_in_a_cell_stays_markup() -> None:
    assert "<td><b>&amp;</b></td>" in html_table(("a",), [(Markup("<b>{}</b>").format("&"),)])


def test_a_drawing_says_what_it_shows() -> None:
    made = figure("<svg><path/></svg>", 'a "b" <c>', "d < e")
    assert 'role="img" aria-label="a &#34;b&#34; &lt;c&gt;"><svg><path/></svg></div>' in made
    assert "<figcaption>d &lt; e</figcaption>" in made
