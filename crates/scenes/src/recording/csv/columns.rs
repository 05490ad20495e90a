//! What the columns of a text file mean: which names are known, and how a row becomes a box.

use std::fmt;
use std::str::FromStr;

/// What one column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Min(usize),
    Max(usize),
    /// `x`: the lower corner, or the center where a radius is given.
    Place(usize),
    Center(usize),
    Size(usize),
    Half(usize),
    Radius,
    Frame,
    /// Not read.
    Ignored,
}

const AXES: [&str; 3] = ["x", "y", "z"];
const SIZES: [[&str; 2]; 3] = [["w", "width"], ["h", "height"], ["d", "depth"]];

impl Role {
    /// The role of a name, in any case, with or without quotes.
    fn of(name: &str) -> Option<Self> {
        let name = unquoted(name).to_ascii_lowercase();
        match name.as_str() {
            "r" | "radius" => return Some(Self::Radius),
            "frame" => return Some(Self::Frame),
            "id" | "name" | "-" => return Some(Self::Ignored),
            _ => {}
        }
        (0..3).find_map(|axis| Self::of_axis(&name, axis))
    }

    fn of_axis(name: &str, axis: usize) -> Option<Self> {
        let x = AXES[axis];
        // `#` stands for the axis.
        let is = |forms: &[&str]| forms.iter().any(|form| form.replace('#', x) == name);
        match () {
            () if is(&["min_#", "#_min", "#min", "min#", "#1", "#lo"]) => Some(Self::Min(axis)),
            () if is(&["max_#", "#_max", "#max", "max#", "#2", "#hi"]) => Some(Self::Max(axis)),
            () if is(&["#"]) => Some(Self::Place(axis)),
            () if is(&["center_#", "#_center", "c#"]) => Some(Self::Center(axis)),
            () if is(&["size_#"]) || SIZES[axis].contains(&name) => Some(Self::Size(axis)),
            () if is(&["half_#"]) => Some(Self::Half(axis)),
            () => None,
        }
    }

    fn axis(self) -> Option<usize> {
        match self {
            Self::Min(axis) | Self::Max(axis) | Self::Place(axis) | Self::Center(axis) | Self::Size(axis) | Self::Half(axis) => {
                Some(axis)
            }
            Self::Radius | Self::Frame | Self::Ignored => None,
        }
    }
}

/// A field without the quotes that some programs put around text.
pub(super) fn unquoted(field: &str) -> &str {
    field.trim().trim_matches('"').trim()
}

/// How one axis of a box follows from two columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// min, max.
    Corners(usize, usize),
    /// min, size.
    Extent(usize, usize),
    /// center, size.
    Centered(usize, usize),
    /// center, half of the size or radius.
    Around(usize, usize),
}

/// The columns of a text file, in their order: what `--columns` and the header of a file say.
///
/// For each axis there is a lower and an upper corner (`min_x` and `max_x`; also `x_min`, `xmin`, `minx`, `x1`, `xlo` and `x_max`, `xmax`,
/// `maxx`, `x2`, `xhi`), a lower corner and a size (`x` and `w`; for y `h`, for z `d`; also `width`, `height`, `depth`, `size_x`), a center and a size (`cx`, `center_x` or
/// `x_center` and a size), a center and half of the size (`center_x` and `half_x`), or a center (`x` or `center_x`) and one radius for all
/// axes (`r` or `radius`). A column `frame` numbers the frames; columns `id`, `name` and `-` are not read. Names may be in upper case.
///
/// ```
/// use broadphase_scenes::Columns;
/// let columns: Columns = "id,x,y,w,h".parse()?;
/// assert_eq!((columns.dim(), columns.count()), (2, 5));
/// assert_eq!("x,y,w".parse::<Columns>().unwrap_err().to_string(), "no column gives the size in y; add h (or max_y)");
/// # Ok::<(), broadphase_scenes::ColumnsError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    roles: Vec<Role>,
    forms: Vec<Form>,
}

/// Why columns do not make a box. Displays as one line with a remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnsError {
    /// The column it is about, from 1.
    pub column: usize,
    /// What is wrong.
    pub reason: String,
}

impl fmt::Display for ColumnsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for ColumnsError {}

impl FromStr for Columns {
    type Err = ColumnsError;

    fn from_str(text: &str) -> Result<Self, ColumnsError> {
        Self::of_names(text.split(','))
    }
}

impl Columns {
    /// The columns of these names.
    pub(super) fn of_names<'a>(names: impl Iterator<Item = &'a str>) -> Result<Self, ColumnsError> {
        let mut roles = Vec::new();
        for (index, name) in names.enumerate() {
            let wrong = |reason: String| ColumnsError { column: index + 1, reason };
            let role = Role::of(name).ok_or_else(|| {
                let name = super::shorten(name);
                wrong(format!(
                    "unknown column `{name}`; the header is min_x,min_y,max_x,max_y or the like; call a column - to leave it out"
                ))
            })?;
            if role != Role::Ignored && roles.contains(&role) {
                return Err(wrong(format!("column `{}` twice; keep one", super::shorten(name))));
            }
            roles.push(role);
        }
        Self::of_roles(roles)
    }

    /// Columns without names: `min..., max...`.
    pub(super) fn corners(count: usize) -> Option<Self> {
        let dim = match count {
            4 => 2,
            6 => 3,
            _ => return None,
        };
        let roles = (0..dim).map(Role::Min).chain((0..dim).map(Role::Max)).collect();
        Self::of_roles(roles).ok()
    }

    fn of_roles(roles: Vec<Role>) -> Result<Self, ColumnsError> {
        let dim = if roles.iter().any(|role| role.axis() == Some(2)) { 3 } else { 2 };
        let forms = (0..dim).map(|axis| Self::form(&roles, axis)).collect::<Result<_, _>>()?;
        Ok(Self { roles, forms })
    }

    /// How an axis is given; an error names what is missing, or what is too much.
    fn form(roles: &[Role], axis: usize) -> Result<Form, ColumnsError> {
        let at = |role: Role| roles.iter().position(|&known| known == role);
        let (x, size) = (AXES[axis], SIZES[axis][0]);
        let missing = |reason: String| Err(ColumnsError { column: roles.len() + 1, reason });
        let lower = at(Role::Min(axis));
        let (place, center) = (at(Role::Place(axis)), at(Role::Center(axis)));
        let upper = at(Role::Max(axis));
        let (whole, half) = (at(Role::Size(axis)), at(Role::Half(axis)).or(at(Role::Radius)));
        let given = [lower, upper, place, center, whole, at(Role::Half(axis))].into_iter().flatten().count();
        let form = match (lower, upper, place, center, whole, half) {
            (Some(low), Some(high), None, None, None, _) => Form::Corners(low, high),
            (Some(low), None, None, None, Some(size), _) | (None, None, Some(low), None, Some(size), _) => {
                Form::Extent(low, size)
            }
            (None, None, None, Some(center), Some(size), None) => Form::Centered(center, size),
            (None, None, None, Some(center), None, Some(half)) | (None, None, Some(center), None, None, Some(half)) => {
                Form::Around(center, half)
            }
            (None, _, None, None, _, _) => {
                return missing(format!("column `min_{x}` is missing; name it min_{x}, or {x} for a corner with a size"));
            }
            (Some(_), None, None, None, None, _) => {
                return missing(format!("column `max_{x}` is missing; name it max_{x}, or give a size {size}"));
            }
            (_, None, _, _, None, None) => return missing(format!("no column gives the size in {x}; add {size} (or max_{x})")),
            _ => {
                let reason = format!(
                    "{given} columns for {x} do not fit together; give min_{x} and max_{x}, {x} and {size}, or c{x} and {size}"
                );
                let column = roles.iter().rposition(|role| role.axis() == Some(axis)).unwrap_or(0) + 1;
                return Err(ColumnsError { column, reason });
            }
        };
        Ok(form)
    }

    /// 2 or 3.
    pub fn dim(&self) -> usize {
        self.forms.len()
    }

    /// How many columns there are, those that are not read included.
    pub fn count(&self) -> usize {
        self.roles.len()
    }

    /// Is there a column of ids or names, which is not read?
    pub(super) fn ignores(&self) -> bool {
        self.roles.contains(&Role::Ignored)
    }

    /// Is this column read?
    pub(super) fn is_read(&self, column: usize) -> bool {
        self.roles[column] != Role::Ignored
    }

    /// Is this column a size, which is 0 or more?
    pub(super) fn is_size(&self, column: usize) -> bool {
        matches!(self.roles[column], Role::Size(_) | Role::Half(_) | Role::Radius)
    }

    /// The column that numbers frames.
    pub(super) fn frame(&self) -> Option<usize> {
        self.roles.iter().position(|&role| role == Role::Frame)
    }

    /// Appends the box of a row: `min..., max...`.
    pub(super) fn push_box(&self, row: &[f64], values: &mut Vec<f64>) {
        let ends = |form: &Form| match *form {
            Form::Corners(min, max) => (row[min], row[max]),
            Form::Extent(min, size) => (row[min], row[min] + row[size]),
            Form::Centered(center, size) => (row[center] - row[size] * 0.5, row[center] + row[size] * 0.5),
            Form::Around(center, half) => (row[center] - row[half], row[center] + row[half]),
        };
        values.extend(self.forms.iter().map(|form| ends(form).0));
        values.extend(self.forms.iter().map(|form| ends(form).1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(columns: &str, row: &[f64]) -> Vec<f64> {
        let mut values = Vec::new();
        columns.parse::<Columns>().unwrap().push_box(row, &mut values);
        values
    }

    fn refusal(columns: &str) -> (usize, String) {
        let error = columns.parse::<Columns>().unwrap_err();
        (error.column, error.reason)
    }

    #[test]
    fn every_form_gives_the_same_box() {
        let expected = [1.0, 2.0, 4.0, 8.0];
        assert_eq!(row("min_x,min_y,max_x,max_y", &[1.0, 2.0, 4.0, 8.0]), expected);
        assert_eq!(row("xmax,xmin,y_min,y_max", &[4.0, 1.0, 2.0, 8.0]), expected);
        assert_eq!(row("X1,Y1,X2,Y2", &[1.0, 2.0, 4.0, 8.0]), expected);
        assert_eq!(row("minX,minY,maxX,maxY", &[1.0, 2.0, 4.0, 8.0]), expected);
        assert_eq!(row("xlo,xhi,ylo,yhi", &[1.0, 4.0, 2.0, 8.0]), expected);
        assert_eq!(row("x,y,w,h", &[1.0, 2.0, 3.0, 6.0]), expected);
        assert_eq!(row("\"id\",\"x\",\"y\",\"width\",\"height\"", &[9.0, 1.0, 2.0, 3.0, 6.0]), expected);
        assert_eq!(row("cx,cy,w,h", &[2.5, 5.0, 3.0, 6.0]), expected);
        assert_eq!(row("center_x,half_x,-,y,size_y", &[2.5, 1.5, 7.0, 2.0, 6.0]), expected);
        assert_eq!(row("x,y,r", &[2.0, 3.0, 1.0]), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(row("x,y,z,radius", &[2.0, 3.0, 0.0, 1.0]), [1.0, 2.0, -1.0, 3.0, 4.0, 1.0]);
        assert_eq!(row("x,y,z,w,h,d", &[0.0, 1.0, 2.0, 1.0, 1.0, 1.0]), [0.0, 1.0, 2.0, 1.0, 2.0, 3.0]);
    }

    #[test]
    fn what_is_missing_or_too_much_is_named_with_its_column() {
        assert_eq!(refusal("min_x,min_y,max_x").0, 4);
        assert!(refusal("min_x,min_y,max_x").1.contains("`max_y` is missing"));
        assert!(refusal("min_x,max_x").1.contains("`min_y` is missing"));
        assert_eq!(refusal("x,y,w"), (4, "no column gives the size in y; add h (or max_y)".to_string()));
        assert_eq!(refusal("x,color,w,h").0, 2);
        assert!(refusal("x,color,w,h").1.contains("unknown column `color`"));
        assert_eq!(refusal("x,y,w,w"), (4, "column `w` twice; keep one".to_string()));
        assert!(refusal("x,cx,y,w,h").1.contains("do not fit together"));
        assert!(refusal("min_x,max_x,w,y,h").1.contains("3 columns for x"));
    }
}
