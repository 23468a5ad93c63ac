//! Values of USD.

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `bool`
    Truth(bool),
    /// `int`
    Int(i32),
    /// `float`
    Float(f32),
    /// `double`
    Double(f64),
    /// `token`
    Token(String),
    /// `string`
    Text(String),
    /// `asset`: a path to a file, from the layer that it stands in.
    Asset(String),
    /// `float2`
    Float2([f32; 2]),
    /// `float3`, or one of its roles.
    Float3([f32; 3]),
    /// `double3`
    Double3([f64; 3]),
    /// `quatf`: x y z w.
    Quaternion([f32; 4]),
    /// `matrix4d`: row-major, acting on row vectors.
    Matrix([f64; 16]),
    /// `int[]`
    Ints(Vec<i32>),
    /// `int64[]`
    Longs(Vec<i64>),
    /// `float[]`
    Floats(Vec<f32>),
    /// `float3[]`, or one of its roles.
    Vectors(Vec<[f32; 3]>),
    /// `double2[]`
    Pairs(Vec<[f64; 2]>),
    /// `token[]`
    Tokens(Vec<String>),
    /// `string[]`
    Texts(Vec<String>),
    /// `asset[]`
    Assets(Vec<String>),
    /// `dictionary`, in order.
    Dictionary(Vec<(&'static str, Value)>),
    /// A layer whose default prim is put under a prim, before others.
    Reference(String),
    /// Schemas that a prim has besides its type, before others.
    Schemas(Vec<&'static str>),
}

impl Value {
    /// Its type, as dictionaries name it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Truth(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Double(_) => "double",
            Self::Token(_) => "token",
            Self::Text(_) => "string",
            Self::Asset(_) | Self::Reference(_) => "asset",
            Self::Float2(_) => "float2",
            Self::Float3(_) => "float3",
            Self::Double3(_) => "double3",
            Self::Quaternion(_) => "quatf",
            Self::Matrix(_) => "matrix4d",
            Self::Ints(_) => "int[]",
            Self::Longs(_) => "int64[]",
            Self::Floats(_) => "float[]",
            Self::Vectors(_) => "float3[]",
            Self::Pairs(_) => "double2[]",
            Self::Tokens(_) | Self::Schemas(_) => "token[]",
            Self::Texts(_) => "string[]",
            Self::Assets(_) => "asset[]",
            Self::Dictionary(_) => "dictionary",
        }
    }
}

/// A token.
pub fn token(text: &str) -> Value {
    Value::Token(text.to_owned())
}

/// A path to a file, from the layer that it stands in.
pub fn asset(path: &str) -> Value {
    Value::Asset(path.to_owned())
}
